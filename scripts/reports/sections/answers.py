"""The first figure with its answers, the way into the explorer, and the table of all questions and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ranktrial.experiment.records import Experiment
from scripts.reports.sections import comparisons

if TYPE_CHECKING:
    from ranktrial.reports.writing.content import Block
    from scripts.reports.sections import Report

NAME, PLACE = "answers", 20


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The results of the comparisons and their table."""
    return comparisons.inputs(experiment)


def blocks(report: Report) -> list[Block]:
    """They, if anything is compared."""
    from ranktrial.common.tables import COMPARISONS
    from ranktrial.reports.contents.comparisons import TO_EXPLORER, first, questions

    labels, compared, figures = report.facts.labels, comparisons.compared(report), comparisons.figures(report)
    if not compared:
        return []
    explored = [TO_EXPLORER] if any(map(figures.explored, compared)) else []
    table = report.table("comparisons", *COMPARISONS)
    return [first(compared, figures, labels), *explored, questions(table, compared, labels)]
