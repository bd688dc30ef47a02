"""Transfer: matrices of sources and targets, and curves over the number of training queries, with their answers."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.reports import planning as pages
from scripts.reports.sections import Report

NAME, PLACE = "transfer", 80


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of matrices and the records of curves."""
    return {"matrices": pages.matrix_tables(experiment, ("tsv",)), "curves": pages.curve_records(experiment)}


def settings(experiment: Experiment) -> JsonObject:
    """The labels in matrices and curves, and the figures of curves."""
    return pages.on_pages(experiment)


def blocks(report: Report) -> list[Block]:
    """The section, if there are any."""
    from ranktrial.reports.transfer_studies import Studies, read_studies, studies

    several = read_studies(report.settings(NAME, Studies), report.files["matrices"], report.files["curves"])
    return [studies(several)] if several else []
