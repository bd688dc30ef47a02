"""Figures of the kinds that have a section of their own."""

from __future__ import annotations

from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block, Section
from scripts.reports.sections import Report, figure

NAME, PLACE = "figures", 115


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """None: the report has all figures."""
    return {}


def blocks(report: Report) -> list[Block]:
    """A section per kind."""
    kinds: dict[tuple[str, str], list[Block]] = {}
    for one in report.said.exhibits:
        if not one.section:
            kinds.setdefault((one.kind, one.heading), []).append(figure(one))
    return [Section(heading, drawn, anchor=f"figures-{kind}") for (kind, heading), drawn in kinds.items()]
