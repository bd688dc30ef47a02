"""Means: a table per measure, how to read it, what grades count for, and cautions."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.experiment.descriptions import cautions
from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.reports.sections import Report, families, tasks

NAME, PLACE = "means", 50


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of datasets and means, and the multiple comparisons that decide what is bold."""
    return tasks.inputs(experiment) | families.inputs(experiment)


def settings(experiment: Experiment) -> JsonObject:
    """The cautions of the configuration, and whether values are computed from runs."""
    return {
        "cautions": cautions(experiment),
        "of_runs": not all(format_of(dataset).values_given for dataset in experiment.datasets.values()),
    }


def blocks(report: Report) -> list[Block]:
    """The section."""
    from ranktrial.reports.contents import data

    own, grades = (
        report.settings(NAME, data.Beside),
        data.graded(report.table("datasets"), report.facts.measures),
    )
    return [data.means(report.means, report.facts, families.found(report), own, grades)]
