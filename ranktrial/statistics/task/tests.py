"""The interval and the tests of one task's difference, with clusters of queries and seed variance.

Reads and writes nothing. Clusters are resampled and flipped as a whole; t has the degrees of freedom of clusters and
seeds (Satterthwaite). The randomisation test, and intervals by resampling, take the seeds as given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ranktrial.statistics.dependence.observed_tasks import ObservedTask
from ranktrial.statistics.dependence.units import design_effects
from ranktrial.statistics.effects import compute_rows, effect_named
from ranktrial.statistics.method import Method
from ranktrial.statistics.task.interval import task_interval
from ranktrial.statistics.task.significance import (
    Equivalence,
    TTest,
    equivalence_test,
    paired_t_test,
    t_test_of,
    two_one_sided,
)
from ranktrial.statistics.task_intervals import TaskInterval


def interval_of(task: ObservedTask, method: Method) -> tuple[TaskInterval | None, str | None]:
    """The interval of a task's effect, and a warning if it is not the configured one or takes the seeds as given."""
    if task.effect.variance is None:
        return None, None
    effect_type = effect_named(method.effect)
    if task.powered:
        method = replace(method, task_interval="t")  # resampling the human-judged queries does not resample the others

    def of_units(x: np.ndarray, y: np.ndarray, units: np.ndarray) -> np.ndarray:
        results = compute_rows(effect_type, x, y, method.ddof, method.effect_keys)
        if units.max() == 0:
            return np.full_like(results, np.nan)  # all its queries are one cluster
        difference = x - y
        factors = design_effects(difference - difference.mean(axis=1, keepdims=True), units)
        results[:, 1] *= np.maximum(1.0 if task.automatic else 0.0, factors)
        return results

    return task_interval(
        task.x,
        task.y,
        task.effect,
        method,
        units=task.drawn,
        df=task.df,
        compute=of_units if task.clusters and not task.as_independent else None,
        with_seeds=task.parts[0] if task.seeds else None,
    )


def by_unit(task: ObservedTask) -> tuple[np.ndarray, np.ndarray]:
    """Treatment and control summed over each cluster, the units that a flip exchanges."""
    if task.flipped is None:
        return task.x, task.y
    return np.bincount(task.flipped, task.x), np.bincount(task.flipped, task.y)


def t_test(task: ObservedTask, method: Method) -> TTest:
    """The paired t-test, with the variance over clusters and seeds."""
    if task.as_ever:
        return paired_t_test(task.x, task.y, method.ddof)
    if not task.parts_of_difference:
        return TTest(undefined=task.effect.undefined or "the difference has no variance")
    return t_test_of(float((task.x - task.y).mean()), task.parts_of_difference)


def equivalence(task: ObservedTask, method: Method) -> Equivalence:
    """Both one-sided tests against the margin, with the variance over clusters and seeds.

    Non-inferior means not lower by more than the margin, or, if lower is better, not higher.
    """
    assert method.margin is not None
    better, worse = (task.y, task.x) if method.lower_is_better else (task.x, task.y)
    if task.as_ever:
        return equivalence_test(better, worse, method.margin, method.alpha, method.ddof)
    if not task.parts_of_difference:
        return Equivalence(method.margin, undefined=task.effect.undefined or "the difference has no variance")
    return two_one_sided(float((better - worse).mean()), task.parts_of_difference, method.margin, method.alpha)
