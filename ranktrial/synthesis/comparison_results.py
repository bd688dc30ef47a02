"""What a comparison's job writes: effects/{comparison}.tsv and meta/{comparison}.json; reads and writes nothing.

The lines of effects/{comparison}.tsv, one per task.

The dependence part of meta/{comparison}.json: seeds, clusters of queries, covariance of the tasks' effects.

`seeds` has one record per role (control, treatment, or difference if both rank with the same
checkpoints): its source and status, the number of seeds, the degrees of freedom, the part of the summary's variance,
and the standard deviation between seeds (of one checkpoint's mean over the tasks) with its interval. `dependence` is
the whole dependence in numbers, for the jobs that fit the same effects again (records/dependence.py).

The content of meta/{comparison}.json.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypedDict

import numpy as np
import pandas as pd

from ranktrial.common.projection import filled
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.records.comparison import (
    Asked,
    Covariance,
    DependenceRecord,
    EffectsRow,
    MetaRecord,
    NoEffect,
    SeedsRecord,
    SeedsSpread,
    SensitivityRecord,
    ShortSummary,
    as_record,
    result_of,
)
from ranktrial.statistics.bayes import BayesianSummary, bayesian_summary
from ranktrial.statistics.comparison import Comparison
from ranktrial.statistics.dependence import is_diagonal
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.independent_tasks import MetaAnalysis, MetaResult
from ranktrial.statistics.method import RANDOM
from ranktrial.statistics.seeds import SeedEffects, sd_interval
from ranktrial.statistics.sensitivity import Sensitivity
from ranktrial.statistics.significance import CORRECTIONS, TTest
from ranktrial.statistics.summaries import SummaryEquivalence, equivalence
from ranktrial.statistics.synthesise import Synthesis
from ranktrial.statistics.task_intervals import method_for
from ranktrial.statistics.task_results import TaskResult

TESTS = ("t_p", "randomisation_p", "equivalence_p", "non_inferiority_p")  # prefixes of columns


class Judged(NamedTuple):
    """The mean Judged@k of each system over the queries of a task's effect; None if it was not measured."""

    control: float | None = None
    treatment: float | None = None


def rows(
    results: Mapping[str, TaskResult], weights: Mapping[str, float], judged: Mapping[str, Judged] | None = None
) -> pd.DataFrame:
    """The rows by task; cells that do not apply are empty, and `undefined` states why.

    The family of an adjustment is all tasks, for every test: a task without a p-value counts as p = 1, the value of the
    randomisation test if both systems are the same and t is undefined.
    """
    measured = judged or {}
    lines = [_row(task, one, weights.get(task), measured.get(task, Judged())) for task, one in results.items()]
    for test in TESTS:
        p_values = [getattr(line, f"{test}_value") for line in lines]
        counted = [1.0 if p is None else p for p in p_values]
        for name, adjusted in CORRECTIONS.items():
            cells: list[dict[str, Any]] = [{f"{test}_{name}": value} for value in adjusted(counted)]
            of_all = zip(lines, p_values, cells, strict=True)
            lines = [line if p is None else replace(line, **cell) for line, p, cell in of_all]
    return pd.DataFrame(lines)


def _row(task: str, result: TaskResult, weight: float | None, judged: Judged) -> EffectsRow:
    effect, t, variance, interval = result.effect, result.t_test or TTest(), result.variance, result.interval
    randomisation, margin, powered = result.randomisation, result.equivalence, result.observed.powered
    ci_low, ci_high = result.ends or (None, None)
    in_units = effect_named(effect.effect_type).IN_UNITS_OF_MEASURE  # the decomposition is that of a mean difference
    return filled(
        EffectsRow,
        effect,
        task=task,
        ci_low=ci_low,
        ci_high=ci_high,
        p_value=interval.p_value if interval else None,
        weight=weight,
        log10_p=interval.log10_p if interval else None,
        t=t.t,
        t_df=t.df,
        t_p_value=t.p_value,
        t_log10_p=t.log10_p,
        randomisation_p_value=randomisation.p_value if randomisation else None,
        equivalence_p_value=margin.p_equivalence if margin else None,
        non_inferiority_p_value=margin.p_non_inferiority if margin else None,
        control_judged=judged.control,
        treatment_judged=judged.treatment,
        control_seeds=len(result.control.seed_means),
        treatment_seeds=len(result.treatment.seed_means),
        control_seed_sd=result.control.sd,
        treatment_seed_sd=result.treatment.sd,
        variance_with_seeds=variance.total if variance and in_units else None,
        seed_share=variance.seed_share if variance else None,
        clusters=result.observed.clusters,
        design_effect=result.observed.design_effect,
        seeds_variance=result.seeds_variance,
        interval_df=interval.df if interval else None,
        model_weight=powered.weight if powered and interval else None,
        model_queries=powered.further if powered and interval else None,
    )


class DependenceFields(TypedDict, total=False):
    """The fields of a MetaRecord about dependence."""

    seeds: dict[str, SeedsRecord] | str
    covariance: Covariance
    collections: dict[str, int]
    dependence: DependenceRecord | None
    clusters: dict[str, int]
    clusters_as_independent: list[str]


def dependence_record(found: Comparison, settings: Settings) -> DependenceFields:
    """The fields that exist for this comparison."""
    record: DependenceFields = {"seeds": _seeds(found, settings)} if settings.seed_sources else {}
    tasks = list(found.synthesis.weights)
    dependence = found.dependence
    if dependence and not is_diagonal(dependence.sampling):
        record["covariance"] = Covariance(tasks, dependence.sampling.tolist())
    if dependence and len(set(dependence.collections)) < len(tasks):
        record["collections"] = dict(zip(tasks, dependence.collections, strict=True))
    observed = {task: result.observed for task, result in found.tasks.items()}
    record["dependence"] = as_record(dependence)
    record["clusters"] = {task: one.clusters for task, one in observed.items() if one.clusters}
    record["clusters_as_independent"] = [task for task, one in observed.items() if one.as_independent]
    return record


def _seeds(found: Comparison, settings: Settings) -> dict[str, SeedsRecord] | str:
    if settings.seeds != RANDOM:
        return settings.seeds
    weights = np.array(list(found.synthesis.weights.values()))
    of_tasks = found.dependence.seed_effects if found.dependence else ()
    seed_effects = dict(zip(found.seed_effects, of_tasks, strict=False))
    return {
        role: SeedsRecord(seeds.status, seeds.system, _spread(seed_effects.get(role), weights, settings.alpha))
        for role, seeds in settings.seed_sources.items()
    }


def _spread(seed_effect: SeedEffects | None, weights: np.ndarray, alpha: float) -> SeedsSpread | None:
    if seed_effect is None or not len(weights):
        return None
    spread = seed_effect.spread(weights)
    sd, df = math.sqrt(spread.variance), spread.df
    variance = sum(seed_effect.variances(weights))
    return SeedsSpread(seed_effect.source.seeds, df, variance, sd, sd_interval(sd, df, alpha))


def meta_record(synthesis: Synthesis, settings: Settings, scale: float, **found: Any) -> MetaRecord:
    """The record of a comparison; `found` are further fields of it.

    `scale` is that of the measure (measure_scale.py).
    """
    result, meta = result_of(synthesis.meta), synthesis.meta
    given = {"warnings": list(synthesis.warnings)} | found
    return MetaRecord(
        control=settings.control,
        treatment=settings.treatment,
        measure=settings.measure,
        ddof=settings.ddof,
        own=dict(settings.own),
        permutations=settings.permutations,
        prediction=settings.prediction,
        of_tasks=settings.of_tasks,
        reach=settings.reach,
        small_tasks=settings.small_tasks,
        effect_type=settings.effect,
        task_interval=method_for(settings.task_interval, effect_named(settings.effect)),
        result=result,
        fixed_mean=synthesis.fixed_mean,
        leave_one_out=_short(synthesis.leave_one_out),
        weightings=synthesis.weightings,
        fixed_mean_without=synthesis.fixed_mean_without,
        asked=_asked(result, settings),
        cumulative=_short(synthesis.cumulative) if settings.cumulative else None,
        bayesian=bayesian(synthesis, settings, scale) if meta and settings.bayesian else None,
        **given,
    )


def equivalence_record(found: Comparison, settings: Settings) -> SummaryEquivalence | None:
    """The tests of the summary against the margin, if it has its unit; those of the task, if this is the only one."""
    meta = found.synthesis.meta
    if meta is None or not settings.margin or not effect_named(settings.effect).IN_UNITS_OF_MEASURE:
        return None
    if meta.k > 1:
        return equivalence(meta.summary, settings.margin, settings.lower_is_better)
    of_task = found.tasks[next(iter(found.synthesis.weights))].equivalence
    assert of_task is not None  # it has an effect, and there is a margin
    return SummaryEquivalence(of_task.margin, of_task.p_equivalence, of_task.p_non_inferiority)


def _asked(result: MetaResult | NoEffect, settings: Settings) -> Asked | None:
    """The configured methods, which summaries of fewer tasks may use; None if they are those used."""
    if isinstance(result, NoEffect) or result.k == 1:
        return None
    asked = Asked(settings.estimator, settings.interval)
    return asked if asked != Asked(result.estimator, result.interval) else None


def _short(metas: Mapping[str, MetaAnalysis]) -> dict[str, ShortSummary]:
    return {
        task: ShortSummary(meta.k, meta.interval, meta.summary, meta.tau2, meta.i2, meta.q)
        for task, meta in metas.items()
    }


def bayesian(synthesis: Synthesis, settings: Settings, scale: float) -> BayesianSummary:
    """The Bayesian summary as reported; its sd and tau are on the scale of the synthesis.

    The prior's default scale is that of the effect type, multiplied by the scale of the measure if the effect has its
    unit.
    """
    effect_type = effect_named(settings.effect)
    usual = effect_type.TAU_SCALE * (scale if effect_type.IN_UNITS_OF_MEASURE else 1.0)
    tau_scale = (settings.bayesian.tau_scale if settings.bayesian else None) or usual
    found = bayesian_summary(synthesis.estimates, synthesis.dependence.covariance, tau_scale, settings.alpha)
    reported = reported_within(settings.effect, settings.reach)
    low, high = found.prediction_interval
    return replace(
        found,
        effect=reported(found.effect),
        ci_low=reported(found.ci_low),
        ci_high=reported(found.ci_high),
        prediction_interval=(reported(low), reported(high)),
    )


def sensitivity_record(found: Sensitivity) -> SensitivityRecord:
    """The summaries with the tasks on which every query has the same difference."""
    return filled(
        SensitivityRecord,
        found,
        found.meta,
        assumption="tasks on which every query has the same difference have the pooled variance of the others",
        pooled_variance=found.pooled.variance,
        pooled_df=found.pooled.df,
    )
