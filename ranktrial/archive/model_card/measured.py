"""An experiment's results for a checkpoint: its means with intervals, and the comparisons of its system.

Reads metrics/{task}/{system}/seed-{seed}.tsv and meta/{comparison}.json; writes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranktrial.archive.model_card.exported import Exported
from ranktrial.common.records import read_record
from ranktrial.common.tables import read_metrics
from ranktrial.experiment.records import Task
from ranktrial.experiment.results_paths import path
from ranktrial.records.comparison import MetaRecord
from ranktrial.statistics.meta_analysis.measure_scale import Range, range_of
from ranktrial.statistics.task.differences import difference_of

ALPHA = 0.05


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over the queries of a task, with its 95% t interval (None for one query)."""

    task: Task
    queries: int
    measure: str
    value: float
    low: float | None
    high: float | None


def means(found: Exported) -> list[Mean]:
    """The means of the checkpoint on each task that is scored."""
    measured = []
    for task in found.experiment.runs_of(found.system):
        fields = {"experiment": found.experiment.name, "task": task.folder, "system": found.system.name}
        file = Path(path("metrics", **fields, seed=found.seed))
        if file.is_file():
            table = read_metrics(file)
            measured += [mean_of(task, str(measure), table[measure].to_numpy()) for measure in table]
    return measured


def mean_of(task: Task, measure: str, values: np.ndarray) -> Mean:
    """The mean of the values of single queries; its interval ends where the measure does."""
    found, measured = difference_of(values, np.zeros(len(values)), ALPHA, None), range_of(measure, [values])
    if measured is None:
        measured = Range(0.0 if values.min() >= 0 else -math.inf, math.inf)
    if found.ci_low is None or found.ci_high is None:
        return Mean(task, len(values), measure, found.difference, None, None)
    ends = (found.ci_low, found.ci_high)
    return Mean(task, len(values), measure, found.difference, *measured.cut(ends))


def comparisons(found: Exported) -> dict[str, MetaRecord]:
    """The comparisons of the system that are computed, by name."""
    records = {}
    for name, comparison in found.experiment.comparisons.items():
        file = Path(path("meta", experiment=found.experiment.name, comparison=name))
        if found.system.name in (comparison.control, comparison.treatment) and file.is_file():
            records[name] = read_record(MetaRecord, file)
    return records
