"""The data with which the page opens: comparisons with the difference on each task, tasks, labels; writes nothing."""

from __future__ import annotations

import numpy as np

from ranktrial.common.keys import JsonObject
from ranktrial.common.version import VERSION
from ranktrial.explorer.settings import Comparison, Settings
from ranktrial.explorer.task_data import Data, differences
from ranktrial.ir.measure_names import cutoff, parse


def task_summary(data: Data, one: Comparison) -> JsonObject:
    """The mean difference on a task, and the numbers of queries that each system wins."""
    found = differences(data, one)
    found = found[~np.isnan(found)]
    gains = -found if one.lower_is_better else found
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    mean = float(found.mean()) if len(found) else None
    return {"n": len(found), "mean": mean, "wins": wins, "losses": losses}


def comparison_record(name: str, one: Comparison, summaries: dict[str, JsonObject]) -> JsonObject:
    """A comparison, with the summary of each of its tasks."""
    return {
        "name": name,
        "control": one.control,
        "treatment": one.treatment,
        "measure": one.measure,
        "alpha": one.alpha,
        "lower": one.lower_is_better,
        "tasks": {task: summaries[task] for task in one.tasks},
    }


def overview(
    settings: Settings, tasks: JsonObject, summaries: dict[str, dict[str, JsonObject]], tops: dict[str, int | None]
) -> JsonObject:
    """The whole overview. `summaries` are those of each comparison by task, `tops` the ranks in which holes count."""
    comparisons = [comparison_record(name, settings.comparisons[name], summaries[name]) for name in settings.order]
    return {
        "experiment": settings.experiment,
        "version": VERSION,
        "texts": settings.texts,
        "comparisons": comparisons,
        "tops": tops,
        "systems": settings.systems,
        "tasks": tasks,
    }


def tops_of(settings: Settings) -> dict[str, int | None]:
    """The number of documents that each measure counts; None if it counts all."""
    with_runs = [one for one in settings.comparisons.values() if any(settings.tasks[task].qrels for task in one.tasks)]
    return {measure: cutoff(parse(measure)) for measure in dict.fromkeys(one.measure for one in with_runs)}
