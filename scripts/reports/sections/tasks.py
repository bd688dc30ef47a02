"""The tasks, and the datasets with where they come from."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, stated
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.sections.dataset import Dataset
from ranktrial.experiment.judged import origin
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.reports.writing.content import Block
from scripts.reports.sections import Report

NAME, PLACE = "tasks", 30


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The tables of datasets and means."""
    return {name: [path(place, experiment=experiment.name)] for name, place in
            (("datasets", "datasets_table"), ("means", "means"))}  # fmt: skip


def settings(experiment: Experiment) -> JsonObject:
    """The location and licence of each dataset that is no table of values."""
    return {
        "sources": [
            {"dataset": name, "location": _source(dataset), "licence": dataset.licence}
            for name, dataset in experiment.datasets.items()
            if not format_of(dataset).values_given
        ]
    }


def _source(dataset: Dataset) -> str:
    """The source of a dataset."""
    if format_of(dataset).generated:
        said = stated(dataset)
        return f"queries that {said['generator']} wrote for documents of {dataset.corpus}"
    return origin(dataset)


def blocks(report: Report) -> list[Block]:
    """The section."""
    from ranktrial.reports.contents.data import Sources, tasks

    names = dict.fromkeys(row.task for row in report.means)
    labels = [report.facts.labels.task(task) for task in names]
    return [tasks(labels, report.table("datasets"), report.settings(NAME, Sources).sources)]
