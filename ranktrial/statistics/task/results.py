"""All that is computed of one task: its effect with its interval, tests of its difference, and the part of its seeds.

Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ranktrial.statistics.dependence.observed_tasks import ObservedTask, observed_task
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.method import Method
from ranktrial.statistics.task.effect_sizes import EffectSize
from ranktrial.statistics.task.paired import constant
from ranktrial.statistics.task.seeds import EffectVariance, SeedSpread, effect_variance, seed_spread
from ranktrial.statistics.task.significance import Equivalence, Randomisation, TTest, randomisation_test
from ranktrial.statistics.task.tests import by_unit, equivalence, interval_of, t_test
from ranktrial.statistics.task_intervals import TaskInterval

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
