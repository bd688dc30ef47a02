"""Published numbers and ours."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.reports.planning import table
from scripts.reports.sections import Report

NAME, PLACE = "published", 120


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The table of published numbers, if the experiment has any."""
    return {"published": table(experiment)}


def blocks(report: Report) -> list[Block]:
    """The section, if there are any."""
    from ranktrial.common.tables import read_texts
    from ranktrial.reports.published import published

    return [published(read_texts(path)) for path in report.files["published"]]
