"""Language models that judge, beside the judgements of humans."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.reports.planning import judge_tables
from scripts.reports.sections import Report

NAME, PLACE = "judges", 90


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of all judges."""
    return {"judges": judge_tables(experiment, ("tsv",))}


def blocks(report: Report) -> list[Block]:
    """The section, if any model judges."""
    from ranktrial.reports.contents.data import judges

    return [judges(report.files["judges"])] if report.files["judges"] else []
