"""The interval and the tests of one task's difference, with clusters of queries and seed variance.

Reads and writes nothing. Clusters are resampled and flipped as a whole; t has the degrees of freedom of clusters and
seeds (Satterthwaite). The randomisation test, and intervals by resampling, take the seeds as given.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scripts.statistics.dependence.observed_tasks import ObservedTask
from scripts.statistics.dependence.units import design_effects
from scripts.statistics.effects import compute_rows, effect_named
from scripts.statistics.least_squares.satterthwaite import Part, total
from scripts.statistics.method import Method
from scripts.statistics.task.interval import task_interval
from scripts.statistics.task.significance import (
    Equivalence,
    TTest,
    equivalence_test,
    paired_t_test,
    t_test_of,
    two_one_sided,
)
from scripts.statistics.task_intervals import TaskInterval, method_for, task_interval_named


def interval_of(task: ObservedTask, method: Method) -> tuple[TaskInterval | None, str | None]:
    """The interval of a task's effect, and a warning if it is not the configured one or excludes seed variance."""
    if task.effect.variance is None:
        return None, None
    effect_type = effect_named(method.effect)
    if task.powered:
        method = replace(method, task_interval="t")  # resampling the human-judged queries does not resample the others
    kind = method_for(method.task_interval, effect_type)
    holds_seeds = task_interval_named(kind).HOLDS_SEEDS
    part = task.in_all if holds_seeds else task.over_queries

    def of_units(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> np.ndarray:
        results = compute_rows(effect_type, x, y, method.ddof, method.hedges)
        if units.max() == 0:
            return np.full_like(results, np.nan)  # all its queries are one cluster
        difference = x - y
        factors = design_effects(difference - difference.mean(axis=1, keepdims=True), units)
        results[:, 1] *= np.maximum(1.0 if task.automatic else 0.0, factors)
        return results

    interval, warning = task_interval(
        task.x,
        task.y,
        replace(task.effect, variance=part.variance),
        method,
        units=task.drawn,
        df=part.df,
        compute=of_units if task.clusters and not task.as_independent else None,
    )
    if warning is None and task.seeds and not holds_seeds:
        warning = f"its {kind} interval takes the seeds as given"
    return interval, warning


def by_unit(task: ObservedTask) -> tuple[np.ndarray, np.ndarray]:
    """Treatment and control summed over each cluster, the units that a flip exchanges."""
    if task.flipped is None:
        return task.x, task.y
    return np.bincount(task.flipped, task.x), np.bincount(task.flipped, task.y)


def t_test(task: ObservedTask, method: Method) -> TTest:
    """The paired t-test, with the variance over clusters and seeds."""
    if task.as_ever:
        return paired_t_test(task.x, task.y, method.ddof)
    part = variance_of_difference(task)
    if part is None:
        return TTest(undefined=task.effect.undefined or "the difference has no variance")
    return t_test_of(float((task.x - task.y).mean()), part)


def equivalence(task: ObservedTask, method: Method) -> Equivalence:
    """Both one-sided tests against the margin, with the variance over clusters and seeds.

    Non-inferior means not lower by more than the margin, or, if lower is better, not higher.
    """
    assert method.margin is not None
    better, worse = (task.y, task.x) if method.lower_is_better else (task.x, task.y)
    if task.as_ever:
        return equivalence_test(better, worse, method.margin, method.alpha, method.ddof)
    part = variance_of_difference(task)
    if part is None:
        return Equivalence(method.margin, undefined=task.effect.undefined or "the difference has no variance")
    mean = float((better - worse).mean())
    return two_one_sided(mean, math.sqrt(part.variance), part.df, method.margin, method.alpha)


def variance_of_difference(task: ObservedTask) -> Part | None:
    """The variance of the mean difference over clusters and seeds."""
    if task.of_difference is None:
        return None
    return total([task.of_difference, *task.seeds_of_difference])
