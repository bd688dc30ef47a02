"""Costs of the systems: a table, and a figure per control."""

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
    """The control of each figure, and whether searches ran one at a time."""
    controls = [[name, exhibit.control(experiment, name)] for name in exhibit.names(experiment)]
    return {"controls": controls, **exclusive(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if anything is timed."""
    from ranktrial.reports.contents.costs import Shown, costs

    table = report.table("costs")
    return [costs(table, report.settings(NAME, Shown), report.facts.labels)] if len(table) else []
