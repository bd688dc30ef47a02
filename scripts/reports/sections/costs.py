"""Costs of the systems: a table, and how to read its figures."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.exhibits import costs as exhibit
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.timings import exclusive
from ranktrial.reports.writing.content import Block
from scripts.reports.sections import Report

NAME, PLACE = "costs", 110


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The table of costs."""
    return {"costs": [path("costs", experiment=experiment.name)]}


def settings(experiment: Experiment) -> JsonObject:
    """Whether there are figures, and whether searches ran one at a time."""
    return {"figures": bool(exhibit.names(experiment)), **exclusive(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if anything is timed."""
    from ranktrial.reports.contents.costs import Shown, costs

    table = report.table("costs")
    return [costs(table, report.settings(NAME, Shown), report.facts.labels)] if len(table) else []
