"""The components of variance estimated from a finished comparison, for the plan of the next study.

Reads and writes nothing. All are on the scale of the comparison's effect. From the tasks' effects: n V, the variance of
one query (with its share of seed x query, which is subtracted). From their summary: tau2. From the values of each
system by task, query and seed: seed x query is the residual of query + seed (seeds.py); over the seeds, the covariance
matrix of the tasks' means has seed + seed x collection + seed x query / n on its diagonal and seed off it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ranktrial.statistics.power.designs import Components, SeedVariance
from ranktrial.statistics.task.seeds import seed_spread


class Task(NamedTuple):
    """A task's row of effects/{comparison}.tsv; `scale` converts a difference in the measure to the effect's unit: that
    of the median task where the difference is 0.
    """

    name: str
    queries: int
    variance: float
    scale: float


def tasks_of(effects: pd.DataFrame, in_units_of_measure: bool, ddof: int) -> list[Task]:
    """The tasks with an effect; their variances are converted to n - 1 from `ddof`."""
    defined = effects[effects["variance"].notna() & effects["effect"].notna()]
    differences = defined["treatment_mean"] - defined["control_mean"]
    scales = (defined["effect"] / differences.where(differences != 0)).astype(float).abs()
    usual = 1.0 if in_units_of_measure or scales.isna().all() else float(scales.median())
    scales = scales.where(scales.notna() & (not in_units_of_measure), usual)
    return [
        Task(str(row.task), int(row.n), float(row.variance) * (row.n - ddof) / (row.n - 1), float(scale))
        for row, scale in zip(defined.itertuples(), scales, strict=True)
    ]


def components_of(tasks: Sequence[Task], tau2: float, systems: Sequence[Mapping[str, pd.DataFrame]]) -> Components:
    """The components of these tasks; `systems` has, for each trained system, its values by task: query x seed.

    A system with one seed has no estimate of its seed variance and adds none, which the caller reports. Negative
    estimates are set to 0.
    """
    estimates = [(seed_variance_of(tasks, values), values) for values in systems]
    known = [(variance, values) for variance, values in estimates if variance]
    of_one_query = []
    for task in tasks:
        noise = sum(variance.seed_by_query / values[task.name].shape[1] for variance, values in known)
        of_one_query.append(task.queries * task.variance - noise)
    return Components(max(0.0, float(np.mean(of_one_query))), tau2, tuple(variance for variance, _ in known))


def seed_variance_of(tasks: Sequence[Task], values: Mapping[str, pd.DataFrame]) -> SeedVariance | None:
    """The seed variances of a system, from the tasks that it ranks with all of its seeds; None with one seed.

    With only one such task, all seed variance is assumed to be shared by all collections, which is conservative.
    """
    seeds = max((values[task.name].columns for task in tasks), key=len)
    complete = [task for task in tasks if values[task.name].columns.equals(seeds) and task.queries > 1]
    if len(seeds) < 2 or not complete:
        return None
    residuals = [task.scale**2 * (seed_spread(values[task.name].to_numpy()).residual or 0.0) for task in complete]
    means = np.array([task.scale * values[task.name].mean(axis=0).to_numpy() for task in complete])
    covariance = np.atleast_2d(np.cov(means))
    within = np.array(residuals) / [len(values[task.name]) for task in complete]
    total = max(0.0, float((np.diag(covariance) - within).mean()))
    k = len(complete)
    beside = (covariance.sum() - np.trace(covariance)) / (k * (k - 1)) if k > 1 else total
    seed = min(max(0.0, float(beside)), total)
    return SeedVariance(seed, total - seed, float(np.mean(residuals)), len(seeds) - 1)
