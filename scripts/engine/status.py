"""The progress of the runs under way, or of the last run of an experiment; starts nothing.

Reads the state that the run wrote and, to warn if several configurations share it, the names in config/.
"""

from __future__ import annotations

import argparse
import socket
import time
from pathlib import Path

from ranktrial.common.command_line import run
from ranktrial.common.configurations import configurations, shared
from ranktrial.common.errors import UserError
from ranktrial.common.processes import exists
from ranktrial.common.strict_yaml import read_yaml
from ranktrial.engine.display import FOLDER, Run, heading, line, place, read, stages

SILENT = 120.0  # seconds of silence after which a run, which writes every ten, must have died


def state_of(found: Run, written: float, now: float) -> str:
    """The state of a run as text; `written` is the time of its last update."""
    if is_running(found, written, now):
        return f"running on {found.host} since {_clock(found.started)}, process {found.pid}"
    if found.outcome == "running":
        return f"was killed after {_clock(written)}; a new run resumes from there"
    return f"{found.outcome} at {_clock(found.ended or written)}"


def is_running(found: Run, written: float, now: float) -> bool:
    """Whether a run has not ended and was not killed; `written` is the time of its last update."""
    killed = now - written > SILENT or (found.host == socket.gethostname() and not exists(found.pid))
    return found.outcome == "running" and not killed


def report(found: Run, written: float, now: float) -> list[str]:
    """The progress of a run as lines."""
    until = now if found.outcome == "running" else written
    shown = [heading(found, until), *map(line, stages(found, until))]
    return [*shown, f"{state_of(found, written, now)}; Snakemake's log: {found.log}"]


def _clock(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def named(config: Path) -> str:
    """The experiment of a configuration. Raises UserError."""
    if not config.is_file():
        raise UserError(f"{config}: no such file")
    name = (read_yaml(config) or {}).get("experiment")
    if not isinstance(name, str):
        raise UserError(f"{config}: key 'experiment' is missing")
    return name


def current() -> list[str]:
    """The experiments with a run under way, or that with the latest state. Raises UserError if no run ever began."""
    runs = sorted(FOLDER.glob("*.json"), key=lambda path: path.stat().st_mtime)
    if not runs:
        raise UserError("no run has started in this folder: make run")
    now = time.time()
    running = [path.stem for path in runs if is_running(read(path.stem), path.stat().st_mtime, now)]
    return sorted(running) or [runs[-1].stem]


def show(experiment: str) -> None:
    """Print the progress of the last run of an experiment."""
    found = read(experiment)
    print(*report(found, place(experiment).stat().st_mtime, time.time()), sep="\n")
    if len(files := configurations().of.get(experiment, [])) > 1:
        print(f"warning: {shared(experiment, files)} and this state; give one of them another name")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", help="the name of the experiment")
    parser.add_argument("--config", type=Path, help="the configuration of the experiment")
    arguments = parser.parse_args()
    chosen = arguments.experiment or (arguments.config and named(arguments.config))
    for experiment in [chosen] if chosen else current():
        show(experiment)


if __name__ == "__main__":
    run(main)
