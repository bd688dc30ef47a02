"""Costs of the systems: a table, and a figure per control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.comparisons import COST_FIGURE
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from scripts.reports.planning.costs import cost_figures, exclusive

if TYPE_CHECKING:
    from ranktrial.reports.writing.content import Block
    from scripts.reports.sections import Report

NAME, PLACE = "costs", 110


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The table of costs."""
    return {"costs": [path("costs", experiment=experiment.name)]}


def settings(experiment: Experiment) -> JsonObject:
    """The control of each figure, and whether searches ran one at a time."""
    controls = {
        COST_FIGURE + name: experiment.comparisons[members[0]].control
        for name, members in cost_figures(experiment).items()
    }
    return {"controls": controls, **exclusive(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if anything is timed."""
    from ranktrial.common.tables import COSTS
    from ranktrial.reports.contents.costs import Shown, costs

    table = report.table("costs", *COSTS)
    return [costs(table, report.settings(NAME, Shown), report.facts.labels)] if len(table) else []
