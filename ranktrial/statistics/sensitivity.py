"""The summary including tasks on which every query has the same difference; reads and writes nothing.

A difference that is the same for every query has no variance, so the task has no weight and is left out. If both
systems are the same there, leaving it out moves the summary away from 0: only tasks with a change count; if not, the
task on which they differ most surely is missing. Here these tasks get the mean variance of a query over the others,

    V_i = s^2 / n_i,    s^2 = sum (n_j - 1) n_j V_j / sum (n_j - 1) over the tasks j with an effect,

the pooled variance of an analysis of variance, with sum (n_j - 1) degrees of freedom. It is an assumption that queries
vary as much where no change was observed, so this is a sensitivity analysis and not the result. Everything else is as
in the summary: the covariance of the other tasks, collections, and seed variance. A task on which no query changed
shows neither covariance with others nor seed variance, and gets none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.independent_tasks import MetaAnalysis
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import EffectSize, dependence_of
from ranktrial.statistics.satterthwaite import Part
from ranktrial.statistics.seeds import SeedEffects
from ranktrial.statistics.significance import two_one_sided
from ranktrial.statistics.summaries import Summary
from ranktrial.statistics.synthesise import synthesise
from ranktrial.statistics.task_results import TaskResult


@dataclass(frozen=True)
class Pooled:
    """The variance of one query's effect, pooled over the tasks that have one, with its degrees of freedom."""

    variance: float
    df: int


def pooled_variance(effects: Mapping[str, EffectSize]) -> Pooled | None:
    """The pooled variance of the defined effects; None if no task has one."""
    defined = [(effect.n, effect.variance) for effect in effects.values() if effect.variance is not None]
    df = sum(n - 1 for n, _ in defined)
    return Pooled(sum((n - 1) * n * variance for n, variance in defined) / df, df) if df else None


@dataclass(frozen=True)
class SameTask:
    """A task on which every query has this difference (0: both systems are the same), with the assumed variance, and
    tests against a margin, if any.
    """

    n: int
    effect: float
    variance: float
    p_equivalence: float | None = None
    p_non_inferiority: float | None = None


@dataclass(frozen=True)
class Sensitivity:
    """The summaries with all tasks: `tasks` are those on which every query has the same difference."""

    pooled: Pooled
    tasks: dict[str, SameTask]
    meta: MetaAnalysis
    fixed_mean: Summary


def sensitivity(
    results: Mapping[str, TaskResult],
    method: Method,
    corpora: Mapping[str, str] | None = None,
    seed_effects: Sequence[SeedEffects] = (),
) -> Sensitivity | None:
    """The summaries with all tasks; None if differences vary on every task, or no task has a variance.

    `corpora` by task and `seed_effects`, of all tasks in their order, are those of the comparison.
    """
    effects = {task: result.effect for task, result in results.items()}
    pooled = pooled_variance(effects)
    alike = {task: result.same for task, result in results.items() if result.same is not None}
    if not alike or pooled is None:
        return None
    same = {task: _same_task(effects[task].n, estimate, pooled, method) for task, estimate in alike.items()}
    observed = {task: result.observed for task, result in results.items()}
    for task, one in same.items():
        effects[task] = replace(effects[task], estimate=one.effect, variance=one.variance, undefined=None)
        observed[task] = replace(observed[task], effect=effects[task], df=pooled.df)
    dependence = dependence_of(observed, corpora or {}, seed_effects)
    assert dependence is not None  # these tasks have effects now
    defined = [task for task, effect in effects.items() if effect.variance is not None]
    counts = [None if task in same else own for task, own in zip(defined, dependence.counts, strict=True)]
    synthesis = synthesise(effects, method, dependence=replace(dependence, counts=tuple(counts)))
    assert synthesis.meta is not None and synthesis.fixed_mean is not None
    return Sensitivity(pooled, same, synthesis.meta, synthesis.fixed_mean)


def _same_task(n: int, estimate: float, pooled: Pooled, method: Method) -> SameTask:
    variance = pooled.variance / n
    if not (method.margin and effect_named(method.effect).IN_UNITS_OF_MEASURE):
        return SameTask(n, estimate, variance)
    gain = -estimate if method.lower_is_better else estimate
    tests = two_one_sided(gain, [Part(variance, pooled.df)], method.margin)
    return SameTask(n, estimate, variance, tests.p_equivalence, tests.p_non_inferiority)
