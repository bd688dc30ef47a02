"""The beginning: what was compared, the first figure with its answers, the way into the explorer, all questions."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.reports.writing.content import Block
from scripts.reports.sections import Report, comparisons

NAME, PLACE = "answers", 20


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The table of means, the results of the comparisons and their table."""
    return comparisons.inputs(experiment) | {"means": [path("means", experiment=experiment.name)]}


def blocks(report: Report) -> list[Block]:
    """A sentence with the numbers and measures, and the answers if anything is compared."""
    from ranktrial.reports.contents.comparisons import first, lead, questions, to_explorer

    compared, figures = comparisons.compared(report), comparisons.figures(report)
    systems, tasks = {row.system for row in report.means}, {row.task for row in report.means}
    beginning = lead(len(systems), len(tasks), len(compared), report.facts.measures)
    if not compared:
        return [beginning]
    explored = [to_explorer(report.facts.nouns)] if any(map(figures.explored, compared)) else []
    table = questions(report.table("comparisons"), compared, report.facts)
    return [beginning, first(compared, figures), *explored, *table]
