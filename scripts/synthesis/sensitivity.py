"""The summary with the tasks that are left out because both systems are the same there; reads and writes nothing.

A difference that is the same for every query has no variance of its own, so the task has no weight and is left out.
Where this difference is 0, leaving it out moves the summary away from 0: only tasks on which something changed count.
Here these tasks have the variance that a query has on average over the others,

    V_i = s^2 / n_i,    s^2 = sum (n_j - 1) n_j V_j / sum (n_j - 1) over the tasks j with an effect,

the pooled variance of an analysis of variance, with sum (n_j - 1) degrees of freedom. It assumes that queries vary
as much where nothing was seen to change: an assumption, so this is a sensitivity analysis beside the summary. All else
is as in the summary: the covariance of the other tasks, collections, and seed variance. A task on which no query
moved shows neither a covariance with others nor seed variance, and is given none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scripts.synthesis.comparing import ESTIMATED
from scripts.synthesis.comparison_settings import Settings
from scripts.synthesis.dependence.observed_tasks import dependence_of
from scripts.synthesis.dependence.seeds_part import SeedEffects
from scripts.synthesis.effect_sizes import EffectSize
from scripts.synthesis.effects import effect_named
from scripts.synthesis.significance import two_one_sided
from scripts.synthesis.synthesise import synthesise
from scripts.synthesis.task_results import TaskResult


@dataclass(frozen=True)
class Pooled:
    """The variance of one query's effect, pooled over the tasks that have one, with its degrees of freedom."""

    variance: float
    df: int


def pooled_variance(effects: Mapping[str, EffectSize]) -> Pooled | None:
    """The pooled variance of the defined effects; None where no task has one."""
    defined = [(effect.n, effect.variance) for effect in effects.values() if effect.variance is not None]
    df = sum(n - 1 for n, _ in defined)
    return Pooled(sum((n - 1) * n * variance for n, variance in defined) / df, df) if df else None


def sensitivity(
    results: Mapping[str, TaskResult], settings: Settings, seed_effects: Sequence[SeedEffects] = ()
) -> dict[str, Any] | None:
    """The record of the summary with all tasks; None where no task is the same for both, or none has a variance.

    `seed_effects` are those of the summary, of all tasks in their order.
    """
    effects = {task: result.effect for task, result in results.items()}
    same = {task: result.same for task, result in results.items() if result.same is not None}
    pooled = pooled_variance(effects)
    if not same or pooled is None:
        return None
    observed = {task: result.observed for task, result in results.items() if result.observed is not None}
    tasks: dict[str, dict[str, float | None]] = {}
    for task, estimate in same.items():
        variance = pooled.variance / effects[task].n
        effects[task] = replace(effects[task], estimate=estimate, variance=variance, undefined=None)
        observed[task] = replace(observed[task], effect=effects[task], df=pooled.df)
        tasks[task] = {"n": effects[task].n, "effect": estimate, "variance": variance}
        if settings.margin and effect_named(settings.effect).IN_UNITS_OF_MEASURE:
            tests = two_one_sided(estimate, math.sqrt(variance), pooled.df, settings.margin)
            tasks[task] |= {"p_equivalence": tests.p_equivalence, "p_non_inferiority": tests.p_non_inferiority}
    corpora = settings.corpora if settings.dependence == ESTIMATED else {}
    how = (settings.estimator, settings.interval, settings.alpha, settings.prediction)
    dependence = dependence_of(observed, corpora, seed_effects)
    synthesis = synthesise(effects, settings.effect, *how, dependence=dependence, small_tasks=settings.small_tasks)
    meta, mean = synthesis.meta, synthesis.fixed_mean
    assert meta is not None and mean is not None  # these tasks have effects now
    return {
        "assumption": "tasks on which both systems are the same have the pooled variance of the others",
        "pooled_variance": pooled.variance,
        "pooled_df": pooled.df,
        "tasks": tasks,
        "k": meta.k,
        "summary": asdict(meta.summary),
        "fixed_mean": asdict(mean),
        **{name: getattr(meta, name) for name in ("tau2", "q", "q_df", "q_p_value", "i2", "prediction_interval")},
    }
