"""All that is computed of one task: its effect with its interval, tests of its difference, and the part of its seeds.

The interval of one task's effect: the configured one, or else one that can be computed.

The normal interval (for an effect that is not a difference) and t can always be computed.

The interval and the tests of one task's difference, with clusters of queries and seed variance.

Clusters are resampled and flipped as a whole; t has the degrees of freedom of clusters and
seeds (Satterthwaite). The randomisation test, and intervals by resampling, take the seeds as given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ranktrial.statistics.effects import compute_rows, effect_named, reported_within
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import EffectSize, ObservedTask, observed_task
from ranktrial.statistics.paired import constant
from ranktrial.statistics.seeds import EffectVariance, SeedSpread, effect_variance, seed_spread
from ranktrial.statistics.significance import (
    Equivalence,
    Randomisation,
    TTest,
    equivalence_test,
    paired_t_test,
    randomisation_test,
    t_test_of,
    two_one_sided,
)
from ranktrial.statistics.summaries import Part
from ranktrial.statistics.task_intervals import (
    Compute,
    Sample,
    TaskInterval,
    method_for,
    normal,
    t,
    task_interval_named,
)
from ranktrial.statistics.units import design_effects


def task_interval(
    treatment: np.ndarray,
    control: np.ndarray,
    effect: EffectSize,
    method: Method,
    units: np.ndarray | None = None,
    df: float | None = None,
    compute: Compute | None = None,
    with_seeds: Part | None = None,
) -> tuple[TaskInterval | None, str | None]:
    """The interval of `effect`, and a warning if it is not the configured one; None, None if undefined.

    `units` are the sampling units of queries (0, 1, ...; by default the queries), `df` those of the effect's variance
    (units minus 1), `compute` returns estimates and variances of other queries (by default the effect type's),
    `with_seeds` is the effect's variance over queries and seeds, if these have a part in it.
    """
    if effect.estimate is None or effect.variance is None:
        return None, None
    effect_type = effect_named(method.effect)
    own = np.arange(len(treatment)) if units is None else units
    sample = Sample(
        x=treatment,
        y=control,
        units=own,
        estimate=effect.estimate,
        variance=effect.variance,
        df=float(own.max()) if df is None else df,
        compute=compute or _of_queries(method),
        alpha=method.alpha,
        seed=method.seed,
        permutations=method.permutations,
        keys=method.interval_keys,
        with_seeds=with_seeds,
    )
    kind = method_for(method.task_interval, effect_type)
    interval = _by(kind, sample)
    if not isinstance(interval, str):
        unlike = with_seeds is not None and not task_interval_named(kind).HOLDS_SEEDS
        return interval, f"its {kind} interval takes the seeds as given" if unlike else None
    other = t.NAME if effect_type.HAS_DIFFERENCE else normal.NAME
    found = _by(other, sample)
    assert not isinstance(found, str)  # both can always be computed
    return found, f"no {kind} interval, {interval}; it is the {other} interval instead"


def _by(kind: str, sample: Sample) -> TaskInterval | str:
    """The interval of this kind; if it includes seed variance, with the one that does not."""
    method = task_interval_named(kind)
    found = method.interval(sample)
    if isinstance(found, str) or sample.with_seeds is None or not method.HOLDS_SEEDS:
        return found
    given = method.interval(replace(sample, with_seeds=None))
    assert not isinstance(given, str)  # it is the same computation
    return replace(found, given_seeds=given)


def _of_queries(method: Method) -> Compute:
    """The computation of the effect type, ignoring units."""
    effect_type = effect_named(method.effect)

    def of_queries(x: np.ndarray, y: np.ndarray, _: np.ndarray) -> np.ndarray:
        return compute_rows(effect_type, x, y, method.ddof, method.effect_keys)

    return of_queries


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


FEW = 10  # queries below which no distribution of the mean can be relied on


@dataclass(frozen=True)
class TaskResult:
    """One task of a comparison; tests and variance are None if they have no meaning (a correlation, no margin).

    `interval` is on the scale of the synthesis, `ends` are as reported. `same` is the difference of systems that differ
    by it on every query, so that the effect is undefined.
    """

    effect: EffectSize
    interval: TaskInterval | None
    warnings: tuple[str, ...]
    control: SeedSpread
    treatment: SeedSpread
    observed: ObservedTask
    t_test: TTest | None = None
    randomisation: Randomisation | None = None
    equivalence: Equivalence | None = None
    variance: EffectVariance | None = None
    same: float | None = None
    reach: float | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the effect's interval, as reported: for a correlation, those of r; within what the measure
        allows."""
        if self.interval is None:
            return None
        reported = reported_within(self.effect.effect_type, self.reach)
        return reported(self.interval.ci_low), reported(self.interval.ci_high)

    @property
    def seeds_variance(self) -> float | None:
        """What seeds add to the variance over queries, as far as the interval holds it."""
        if self.interval is None or self.interval.given_seeds is None:
            return None
        return sum(part.variance for part in self.observed.seeds)


def task_result(
    control: np.ndarray, treatment: np.ndarray, method: Method, task: ObservedTask | None = None
) -> TaskResult:
    """Compare two systems on the queries of one task, of shapes (queries, seeds of each), paired row by row.

    An effect type without a difference has no tests and no variance of a difference. The variance is split over its
    sources only where one of the systems has several seeds. `task` is what is observed, with its clusters and seeds; by
    default each query is its own cluster and the seeds are given.
    """
    task = task or of_independent_queries(control, treatment, method)
    x, y, effect = task.x, task.y, task.effect
    effect_type = effect_named(method.effect)
    interval, warning = interval_of(task, method)
    caution = effect_type.caution(x, y) if interval else None
    warnings = tuple(filter(None, (warning, caution)))
    described = (effect, interval, warnings, seed_spread(control), seed_spread(treatment), task)
    if not effect_type.HAS_DIFFERENCE:
        return TaskResult(*described)
    several = max(control.shape[1], treatment.shape[1]) > 1 and len(x) > 1
    return TaskResult(
        *described,
        t_test=t_test(task, method),
        randomisation=None if task.powered else randomisation_test(*by_unit(task), method.seed, method.permutations),
        equivalence=equivalence(task, method) if method.margin else None,
        variance=effect_variance(treatment, control, method.ddof) if several else None,
        same=same_difference(x, y, effect),
        reach=method.reach,
    )


def of_independent_queries(control: np.ndarray, treatment: np.ndarray, method: Method) -> ObservedTask:
    """A task whose queries are a cluster each, from values of shapes (queries, seeds of each)."""
    return observed_task(treatment.mean(axis=1), control.mean(axis=1), range(len(control)), method, shares=False)


def same_difference(x: np.ndarray, y: np.ndarray, effect: EffectSize) -> float | None:
    """The difference that every query has and that leaves no effect; a standardised one is known only if it is 0."""
    difference = x - y
    if effect.undefined is None or len(x) < 2 or not constant(difference, x, y):
        return None
    if constant(np.append(difference, 0.0), x, y):
        return 0.0
    return float(difference.mean()) if effect_named(effect.effect_type).IN_UNITS_OF_MEASURE else None


def task_warnings(results: Mapping[str, TaskResult], units: str = "queries") -> list[str]:
    """Which tasks have few queries, another interval than was asked for, an effect to beware of, or clusters that would
    narrow an interval and that nobody asked for, as text. `units` are what a task holds.
    """
    few = [
        f"{task} ({result.effect.n})" for task, result in results.items() if result.interval and result.effect.n < FEW
    ]
    warnings = [f"fewer than {FEW} {units}: {', '.join(few)}; tests and intervals of so few are rough"] if few else []
    if narrowed := [
        f"{task} ({result.observed.design_effect:.3g})"
        for task, result in results.items()
        if result.observed.as_independent
    ]:
        warnings.append(
            f"design effect below 1: {', '.join(narrowed)}; the default clusters leave the variance as that of "
            "independent queries, clusters: gold-document takes it as estimated"
        )
    return warnings + [f"{task}: {warning}" for task, result in results.items() for warning in result.warnings]
