"""The tasks of a comparison as observations: the effect of each, its clusters, and the dependence between effects.

With clusters of queries, the variance of an effect is multiplied by their design effect, and
tests and intervals have their degrees of freedom (see units.py). Clusters that were not configured are a precaution, so
they never make a variance smaller than that of independent queries: the design effect, an estimate that may be below 1
by chance, is then set to at least 1.

The effect of treatment over control on one task, of any type (statistics/effects/).

The influence of each query on a task's effect: its jackknife value, for any effect type.

Without query j the effect is theta_(-j), and

    e_j = (n - 1) (theta - theta_(-j)),

the jackknife's pseudo-value minus theta (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11). For
a mean difference it is d_j - D itself. Sums of e_j over the queries of a cluster show their covariance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ranktrial.common.plugins import own_keys
from ranktrial.statistics.dependence import Counts, Dependence, covariance
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.method import Method
from ranktrial.statistics.paired import constant, mean_difference
from ranktrial.statistics.prediction_powered import PredictionPowered
from ranktrial.statistics.seeds import SeedEffects, seeds_parts
from ranktrial.statistics.summaries import Part, with_seeds
from ranktrial.statistics.units import clustered, numbered, sums


@dataclass(frozen=True)
class EffectSize:
    """One task's effect.

    `estimate` and `variance` are on the scale of the synthesis (for a correlation Fisher's z); `effect` is the same
    estimate on the reported scale (r). If the effect is undefined, all three are None and `undefined` states why.
    """

    effect_type: str
    n: int
    control_mean: float | None
    treatment_mean: float | None
    estimate: float | None = None
    variance: float | None = None
    undefined: str | None = None

    @property
    def effect(self) -> float | None:
        """The estimate as reported: itself, or for a correlation r = tanh(z)."""
        return None if self.estimate is None else effect_named(self.effect_type).reported(self.estimate)

    @property
    def se(self) -> float | None:
        """The standard error, sqrt(variance)."""
        return None if self.variance is None else math.sqrt(self.variance)


def effect_size(
    treatment: np.ndarray, control: np.ndarray, effect_type: str, ddof: int = 1, keys: Any = None
) -> EffectSize:
    """The effect of one task from `treatment` and `control`, each of shape (n,), paired position by position.

    effect_type: a name in statistics/effects/. ddof: standard deviations divide by n - ddof; 1 is the unbiased
    estimate, 0 is Ranger's. keys: the effect type's own, by default with their defaults. An undefined effect is
    returned with its reason; raises ValueError for invalid input (different shapes, a value that is not finite, an
    unknown type).
    """
    x, y = np.asarray(treatment, dtype=float), np.asarray(control, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"treatment and control must be vectors of one length, not {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("treatment and control must be finite")
    n = len(x)
    means: tuple[float | None, float | None] = (float(y.mean()), float(x.mean())) if n else (None, None)
    result = effect_named(effect_type).compute(
        x, y, ddof, own_keys(effect_named(effect_type), {}) if keys is None else keys
    )
    if isinstance(result, str):
        return EffectSize(effect_type, n, *means, undefined=result)
    return EffectSize(effect_type, n, *means, float(result[0]), float(result[1]))


def influence(x: np.ndarray, y: np.ndarray, effect_type: str, ddof: int, keys: Any) -> np.ndarray | None:
    """e of each query, shape (n,), with mean 0; None if the effect is undefined without one of the queries."""
    effect = effect_named(effect_type)
    if effect.IN_UNITS_OF_MEASURE:
        difference = x - y
        return np.asarray(difference - difference.mean())
    n = len(x)
    estimates = np.empty(n)
    for j in range(n):
        result = effect.compute(np.delete(x, j), np.delete(y, j), ddof, keys)
        if isinstance(result, str):
            return None
        estimates[j] = result[0]
    values: np.ndarray = (n - 1) * (estimates.mean() - estimates)
    return values


def per_unit_of_measure(x: np.ndarray, y: np.ndarray, effect_type: str, ddof: int, keys: Any) -> float:
    """The change of the effect if the treatment is better by 1 on every query: 1 for a mean difference.

    It converts a seed effect, which is the same for all queries of a task, to the unit of the effect: J / S for a
    standardised difference, and 0 for a correlation, which does not change. It is a derivative with a step of 1e-6.
    """
    effect = effect_named(effect_type)
    if effect.IN_UNITS_OF_MEASURE:
        return 1.0
    if not effect.HAS_DIFFERENCE:
        return 0.0
    step = 1e-6 * max(float(np.abs(x).max()), float(np.abs(y).max()), 1e-300)
    ends = [effect.compute(x + sign * step, y, ddof, keys) for sign in (1, -1)]
    if any(isinstance(end, str) for end in ends):
        return 0.0
    above, below = (float(end[0]) for end in ends)
    return (above - below) / (2 * step)


@dataclass(frozen=True)
class ObservedTask:
    """One task: treatment `x` and control `y` by query, and the effect, whose variance is over clusters.

    `units` has the number of each query's cluster. `of_difference` is the variance of the mean difference, for any
    effect type, None if undefined; `df` are those of the effect's variance. `design_effect` and `clusters` are None
    without clusters; it is the estimate, and if `automatic`, values below 1 are treated as 1. `flipped` numbers the
    units that the randomisation test exchanges. `seeds` and `seeds_of_difference` are the seed variances added to the
    two variances. `powered` is the prediction-powered estimate, if a model judges the task.
    """

    x: np.ndarray
    y: np.ndarray
    effect: EffectSize
    units: np.ndarray
    unit_sums: Mapping[Hashable, float] | None
    of_difference: Part | None
    df: float
    clusters: int | None = None
    design_effect: float | None = None
    automatic: bool = False
    flipped: np.ndarray | None = None
    seeds: tuple[Part, ...] = field(default=())
    seeds_of_difference: tuple[Part, ...] = field(default=())
    powered: PredictionPowered | None = None

    @property
    def over_queries(self) -> Part:
        """The variance of a defined effect over queries, with its degrees of freedom."""
        assert self.effect.variance is not None
        return Part(self.effect.variance, self.df)

    @property
    def counts(self) -> Counts | None:
        """Its queries and clusters; None if the variance is not that of one query divided by their number."""
        if self.powered is not None or not effect_named(self.effect.effect_type).HAS_DIFFERENCE:
            return None
        return Counts(len(self.x), int(self.units.max()) + 1)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The variance of the effect over queries and seeds; with seeds, also that over queries alone."""
        return with_seeds([self.over_queries], self.seeds)

    @property
    def parts_of_difference(self) -> tuple[Part, ...]:
        """The same of the mean difference; none if it is undefined."""
        return () if self.of_difference is None else with_seeds([self.of_difference], self.seeds_of_difference)

    @property
    def as_independent(self) -> bool:
        """Whether clusters are automatic and the effect keeps the variance of independent queries."""
        return self.automatic and self.design_effect is not None and self.design_effect < 1

    @property
    def drawn(self) -> np.ndarray:
        """The number of the resampling unit of each query."""
        return np.arange(len(self.x)) if self.as_independent else self.units

    @property
    def as_ever(self) -> bool:
        """Whether queries are independent, and neither seeds nor a model have a part: what tests of the difference
        assume."""
        return self.clusters is None and not self.seeds_of_difference and self.powered is None


def observed_task(
    x: np.ndarray,
    y: np.ndarray,
    units: Sequence[Hashable],
    method: Method,
    shares: bool = True,
    automatic: bool = False,
) -> ObservedTask:
    """A task from the values of both systems, averaged over seeds, and the unit of each query.

    `shares`: other tasks may have the same units, so that influences are computed. `automatic`: the units are clusters
    by default, not configured.
    """
    effect = effect_size(x, y, method.effect, method.ddof, method.effect_keys)
    numbers = numbered(units)
    clusters = int(numbers.max()) + 1
    found = mean_difference(x, y, method.ddof)
    of_mean = None if isinstance(found, str) else Part(found[1], clusters - 1)
    single, moved = clusters == len(x), None
    if effect.variance is not None and (shares or not single):
        moved = influence(x, y, method.effect, method.ddof, method.effect_keys)
    unit_sums = None if moved is None else sums(moved, units)
    if single:
        return ObservedTask(x, y, effect, numbers, unit_sums, of_mean, clusters - 1, automatic=automatic)
    of_difference = clustered(x - y - (x - y).mean(), numbers)
    of_effect = of_difference if moved is None else clustered(moved, numbers)
    if of_difference is None or of_effect is None:
        undefined = _without(effect, effect.undefined or "all its queries are one cluster")
        return ObservedTask(x, y, undefined, numbers, None, None, 0.0, clusters, None, automatic, numbers)
    least = 1.0 if automatic else 0.0
    scale = max(least, of_effect.design_effect)
    if effect.variance is not None and moved is not None and scale:
        effect = replace(effect, variance=effect.variance * scale)
    else:
        why = "its clusters have no variance without one query" if scale else "its clusters have no variance"
        effect = _without(effect, effect.undefined or why)
    of_all = max(least, of_difference.design_effect)
    alone = of_mean is not None and of_difference.design_effect < least  # that of a constant difference is rounding
    return ObservedTask(
        x, y, effect, numbers, unit_sums if of_effect.design_effect else None,
        Part(of_mean.variance * of_all, of_difference.df) if of_mean and of_all else None,
        of_effect.df, clusters, of_effect.design_effect if of_mean and scale else None, automatic,
        np.arange(len(x)) if alone else numbers,
    )  # fmt: skip


def _without(effect: EffectSize, why: str) -> EffectSize:
    return replace(effect, estimate=None, variance=None, undefined=why)


def with_model(
    task: ObservedTask, powered: PredictionPowered, undefined: str | None, units: Sequence[Hashable]
) -> ObservedTask:
    """The task with its prediction-powered effect and variance; without an effect if `undefined` states a reason.

    `units` are those of all queries, the humans' first. If the model agrees with the humans on all of theirs and has
    the weight 1, only the further queries vary.
    """
    clusters = numbered(units)
    if undefined or (task.effect.estimate is None and not (powered.weight > 0 and task.df > 0)):
        effect = _without(task.effect, undefined or str(task.effect.undefined))
        return replace(task, effect=effect, of_difference=None, powered=powered)
    over = clustered(powered.influence, clusters)
    design_effect, df = None, float(len(task.x) - 1)
    if over is not None and len(set(units)) < len(units):
        design_effect, df = _of_clusters(powered, clusters), min(task.df, over.df)
    least = 1.0 if task.automatic else 0.0
    part = Part(powered.variance * (1.0 if design_effect is None else max(least, design_effect)), df)
    if constant(np.array([0.0, math.sqrt(part.variance)]), task.x, task.y):
        effect = _without(task.effect, "the difference has no variance")
        return replace(task, effect=effect, of_difference=None, powered=powered)
    estimate = float((task.x - task.y).mean())
    return replace(
        task,
        effect=replace(task.effect, estimate=estimate, variance=part.variance, undefined=None),
        of_difference=part,
        df=part.df,
        clusters=None if design_effect is None else int(clusters.max()) + 1,
        design_effect=design_effect,
        powered=powered,
    )


def _of_clusters(powered: PredictionPowered, clusters: np.ndarray) -> float:
    """The variance of a prediction-powered effect over clusters of all queries, divided by that of independent ones."""
    sums_of_clusters = np.bincount(clusters, powered.influence)
    count = len(sums_of_clusters)
    return float((sums_of_clusters**2).sum()) * count / (count - 1) / (powered.variance or 1.0)


def per_unit(tasks: Mapping[str, ObservedTask], method: Method) -> dict[str, float]:
    """The change of each task's effect for a difference of 1 in the measure; 0 if undefined."""
    how = (method.effect, method.ddof, method.effect_keys)
    return {
        name: per_unit_of_measure(task.x, task.y, *how) if task.effect.variance is not None else 0.0
        for name, task in tasks.items()
    }


def with_seed_effects(
    tasks: Mapping[str, ObservedTask], seed_effects: Sequence[SeedEffects]
) -> dict[str, ObservedTask]:
    """The tasks with their seed variances; `seed_effects` are those of all tasks, in their order."""
    found = {}
    ones = np.ones(len(tasks))
    of_difference = [replace(seed_effect, per_unit=ones) for seed_effect in seed_effects]
    for position, (name, task) in enumerate(tasks.items()):
        weights = np.zeros(len(tasks))
        weights[position] = 1.0
        seeds, of_means = (tuple(seeds_parts(some, weights)) for some in (seed_effects, of_difference))
        found[name] = replace(task, seeds=seeds, seeds_of_difference=of_means)
    return found


def dependence_of(
    tasks: Mapping[str, ObservedTask], corpora: Mapping[str, str], seed_effects: Sequence[SeedEffects]
) -> Dependence | None:
    """The dependence between the defined effects; None if none is defined. A task without a corpus has its own."""
    names = list(tasks)
    defined = [name for name in names if tasks[name].effect.variance is not None]
    if not defined:
        return None
    own = {name: corpora.get(name, f"of {name} alone") for name in defined}
    numbers = {corpus: number for number, corpus in enumerate(dict.fromkeys(own.values()))}
    positions = [names.index(name) for name in defined]
    parts = [tasks[name].over_queries for name in defined]
    return Dependence(
        sampling=covariance(
            [part.variance for part in parts], [tasks[name].unit_sums for name in defined], list(own.values())
        ),
        degrees=tuple(part.df for part in parts),
        collections=tuple(numbers[corpus] for corpus in own.values()),
        seed_effects=tuple(seed_effect.of_subset(positions) for seed_effect in seed_effects),
        counts=tuple(tasks[name].counts for name in defined),
    )
