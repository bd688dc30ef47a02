"""The content of meta/{comparison}.json; reads and writes nothing itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ranktrial.records.comparison import Asked, MetaRecord, NoEffect, SensitivityRecord, ShortSummary, result_of
from ranktrial.statistics.comparison import Comparison
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.meta_analysis.bayes import BayesianSummary, bayesian_summary
from ranktrial.statistics.meta_analysis.equivalence import SummaryEquivalence, equivalence
from ranktrial.statistics.meta_analysis.independent import MetaAnalysis, MetaResult
from ranktrial.statistics.sensitivity import Sensitivity
from ranktrial.statistics.synthesise import Synthesis
from ranktrial.statistics.task_intervals import method_for
from ranktrial.synthesis.comparison_settings import Settings


def meta_record(synthesis: Synthesis, settings: Settings, scale: float = 1.0, **found: Any) -> MetaRecord:
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
    meta = found.meta
    return SensitivityRecord(
        assumption="tasks on which every query has the same difference have the pooled variance of the others",
        pooled_variance=found.pooled.variance,
        pooled_df=found.pooled.df,
        tasks=found.tasks,
        k=meta.k,
        summary=meta.summary,
        fixed_mean=found.fixed_mean,
        tau2=meta.tau2,
        q=meta.q,
        q_df=meta.q_df,
        q_p_value=meta.q_p_value,
        i2=meta.i2,
        prediction_interval=meta.prediction_interval,
    )
