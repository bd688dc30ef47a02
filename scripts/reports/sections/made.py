"""How the experiment was made: date, commit, machine, rules with their jobs, devices, versions, seeds."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ranktrial.common.keys import JsonObject
from ranktrial.common.timing import processor
from ranktrial.common.version import commit_text
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import fields_of, parse, path
from ranktrial.experiment.timings import timed_systems, timings
from ranktrial.reports.writing.content import Block, Items, Section
from scripts.reports.sections import Report
from scripts.reports.sections.trainings import training_logs

if TYPE_CHECKING:
    from ranktrial.reports.contents.costs import Origin

NAME, PLACE = "made", 140


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The timings of all runs, of their encodings, and of every training once, also of seeds that were not selected."""
    files = set()
    for run, beside in timings(experiment).items():
        own = {beside[key] for key in ("training", "encoding") if key in beside}
        files |= {run, *(file for file in own if parse(file)[0] != "checkpoint_timing")}
    for log in training_logs(experiment):
        files.add(path("checkpoint_timing", experiment=experiment.name, **fields_of("training_log", log)))
    return {"timing": sorted(files)}


def settings(experiment: Experiment) -> JsonObject:
    """The seeds."""
    seeds = {name: list(system.seeds) for name, system in timed_systems(experiment).items() if system.recipes}
    return {"data": experiment.seed, "training": seeds}


def blocks(report: Report) -> list[Block]:
    """The section."""
    from ranktrial.reports.contents.costs import Seeds, made, read_timings

    timed = read_timings(sorted(report.files["timing"]))
    said = report.said
    return [made(origin_of(said.experiment), said.jobs, said.feeds, timed, report.settings(NAME, Seeds).lines())]


def in_summary(report: Report) -> list[Block]:
    """The section without date, commit and machine."""
    from ranktrial.reports.contents.costs import unchanging

    lines = [f"{name}: {text}" for name, text in unchanging(_configuration(report.said.experiment))]
    lines.append("Date, commit and machine: report.html")
    return [Section("How it was made", [Items(lines)], anchor="made")]


def origin_of(experiment: str) -> Origin:
    """The provenance of the page, with the present date."""
    from ranktrial.reports.contents.costs import Origin

    today = datetime.now(UTC).date().isoformat()
    machine = f"{processor()}, {platform.system()}, Python {platform.python_version()}"
    return Origin(today, commit_text(here=Path.cwd()), machine, _configuration(experiment))


def _configuration(experiment: str) -> str:
    return f"results/{experiment}/config.yaml"
