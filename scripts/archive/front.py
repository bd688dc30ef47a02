"""Find the experiment's configuration, check that it is finished, and start writing the archive.

An unfinished experiment is an error that names its missing or outdated files. It is not run, which may take days.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path

from ranktrial.common.command_line import run
from ranktrial.common.configurations import FOLDER, configurations, of_same_name, shared
from ranktrial.common.errors import UserError
from ranktrial.configuration.reading import read_yaml
from ranktrial.experiment.results_paths import path

SNAKEMAKE = [sys.executable, "-m", "snakemake", "--cores", "1"]
EXTENTS = ("crate", "full", "runs")
OK = "ok"  # Snakemake's status of a file that is there and has no reason of its own
SHOWN = 5  # the most files in a message


def configuration(experiment: str, folder: Path) -> Path:
    """The configuration in `folder` that names the experiment. Raises UserError unless there is one."""
    found = configurations(folder)
    files = found.of.get(experiment, [])
    if len(files) > 1:
        problem = f"write CONFIG={files[0]} instead of EXPERIMENT, or give one of them another name"
        raise UserError(f"{shared(experiment, files)}; {problem}")
    if not files:
        listed = ", ".join(f"{name} ({files[0]})" for name, files in found.of.items())
        broken = "".join(f"; not read: {message}" for message in found.broken)
        there = f"no configuration in {folder}/ has this experiment; there are {listed}; or give CONFIG{broken}"
        raise UserError(f"{experiment}: {there}")
    return files[0]


def unfinished(config: Path) -> str:
    """The files that Snakemake would still make, in words: missing ones first, each with its reason; empty if none.

    Those that are there, and follow from others, are counted. Raises UserError if Snakemake fails.
    """
    summary = subprocess.run([*SNAKEMAKE, "--configfile", str(config), "--summary"], capture_output=True, text=True)
    if summary.returncode:
        errors = [line for line in (summary.stdout + summary.stderr).splitlines() if line.startswith("error: ")]
        raise UserError(
            errors[0].removeprefix("error: ") if errors else f"{config}: {summary.stderr.strip().splitlines()[-1]}"
        )
    rows = csv.DictReader(summary.stdout.splitlines(), delimiter="\t")
    pending = [(row["output_file"], row["status"]) for row in rows if row["plan"] == "update pending"]
    if not pending:
        return ""
    causes = sorted((row for row in pending if row[1] != OK), key=lambda row: row[1] != "missing")
    words = [f"{file} ({status})" for file, status in causes] or [file for file, _ in pending]
    further = ["…"] if len(words) > SHOWN else []
    if followers := len(pending) - len(words):
        further.append(f"and {followers} that depend on them")
    return f"{len(pending)} files are to be made: {', '.join([*words[:SHOWN], *further])}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", help="its name; its configuration is looked for in config/")
    parser.add_argument("--config", type=Path)
    parser.add_argument(
        "--extent", choices=EXTENTS, default="crate", help="full: with checkpoints, embeddings, texts, …"
    )
    arguments = parser.parse_args()
    config = configuration(arguments.experiment, FOLDER) if arguments.experiment else arguments.config
    if not config.is_file():
        raise UserError(f"{config}: no such file")
    name = read_yaml(config).get("experiment")
    if missing := unfinished(config):
        others = "".join(f" ({why})" for why in of_same_name(str(name), config))
        raise UserError(f"{config}: unfinished, {missing}; make run CONFIG={config}{others}")
    if arguments.extent == "runs":
        target, rule = path("exported_runs", experiment=name), "export_runs"
    else:
        target, rule = path("archive", experiment=name, extent=arguments.extent), "write_archive"
    # --forcerun: the rule runs even if its file exists.
    command = [*SNAKEMAKE, target, "--forcerun", rule, "--configfile", str(config)]
    sys.stdout.flush()
    os.execv(command[0], command)


if __name__ == "__main__":
    run(main)
