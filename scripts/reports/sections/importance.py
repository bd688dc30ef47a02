"""The importance of features to rankers, two tables per source, features and measure."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.learning_to_rank import planning as learning
from scripts.reports.sections import Report

NAME, PLACE = "importance", 100


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of importance of all rankers, one per seed."""
    return {"importances": learning.all_tables(experiment)}


def settings(experiment: Experiment) -> JsonObject:
    """The rankers by what they are learnt from."""
    return {"rankers": learning.on_pages(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if there are rankers."""
    from ranktrial.reports.contents.training import Ranked, importance

    rankers = report.settings(NAME, Ranked).rankers
    return [importance(rankers, report.files["importances"], report.facts.labels)] if rankers else []
