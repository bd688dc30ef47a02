"""What meta/{comparison}.json holds of the summary of a comparison; reads and writes nothing itself."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from scripts.statistics.effects import effect_named
from scripts.statistics.meta_analysis.bayes import bayesian_summary
from scripts.statistics.meta_analysis.equivalence import equivalence
from scripts.statistics.meta_analysis.independent import MetaAnalysis
from scripts.statistics.meta_analysis.measure_scale import within_range
from scripts.statistics.sensitivity import SameTask, Sensitivity
from scripts.statistics.synthesise import Synthesis
from scripts.statistics.task_intervals import kind_for
from scripts.synthesis.comparison_settings import Settings

KEPT_SETTINGS = ("control", "treatment", "measure", "ddof", "hedges", "permutations", "prediction", "small_tasks")


def meta_record(synthesis: Synthesis, settings: Settings, scale: float = 1.0) -> dict[str, Any]:
    """What meta/{comparison}.json holds; keys as in design and docs, None where a number does not exist.

    `scale` is that of the measure (measure_scale.py).
    """
    meta = synthesis.meta
    if meta and meta.prediction_interval:
        meta = replace(meta, prediction_interval=shown_range(meta.prediction_interval, settings, scale))
    figures = asdict(meta) if meta else {"k": 0, "summary": None}
    figures.pop("weights", None)
    for key in ("given_seeds", "tau2_levels"):  # of dependent effects alone
        if figures.get(key) is None:
            figures.pop(key, None)
    record = {
        **{key: getattr(settings, key) for key in KEPT_SETTINGS},
        "effect_type": settings.effect,
        "task_interval": kind_for(settings.task_interval, effect_named(settings.effect)),
        **figures,
        "fixed_mean": asdict(synthesis.fixed_mean) if synthesis.fixed_mean else None,
        "leave_one_out": {task: _short(meta_of_others) for task, meta_of_others in synthesis.leave_one_out.items()},
        "warnings": list(synthesis.warnings),
    }
    asked = {name: getattr(settings, name) for name in ("estimator", "interval")}
    if meta and meta.k > 1 and asked != {name: getattr(meta, name) for name in asked}:
        record["asked"] = asked  # which summaries of fewer tasks may have
    if settings.cumulative:
        record["cumulative"] = {task: _short(meta_so_far) for task, meta_so_far in synthesis.cumulative.items()}
    if meta and settings.bayesian:
        record["bayesian"] = bayesian_record(synthesis, settings, scale)
    if meta and settings.margin and effect_named(settings.effect).IN_UNITS_OF_MEASURE:
        record["equivalence"] = asdict(equivalence(meta.summary, settings.margin, settings.lower_is_better))
    return record


def bayesian_record(synthesis: Synthesis, settings: Settings, scale: float) -> dict[str, Any]:
    """The Bayesian summary as reported; its sd and tau are on the scale of the synthesis.

    The prior's default scale is that of the effect type, in units of the measure for an effect that is.
    """
    effect_type = effect_named(settings.effect)
    usual = effect_type.TAU_SCALE * (scale if effect_type.IN_UNITS_OF_MEASURE else 1.0)
    tau_scale = (settings.bayesian.tau_scale if settings.bayesian else None) or usual
    summary = bayesian_summary(synthesis.estimates, synthesis.dependence.covariance, tau_scale, settings.alpha)
    record = asdict(summary)
    for name in ("effect", "ci_low", "ci_high"):
        record[name] = effect_type.reported(record[name])
    low, high = (effect_type.reported(end) for end in summary.prediction_interval)
    return record | {"prediction_interval": shown_range((low, high), settings, scale)}


def shown_range(interval: tuple[float, float], settings: Settings, scale: float) -> tuple[float, float]:
    """A prediction interval, cut to the range of the effects where these are differences in the measure."""
    in_units = effect_named(settings.effect).IN_UNITS_OF_MEASURE
    return within_range(interval, settings.measure, scale) if in_units else interval


def _short(meta: MetaAnalysis) -> dict[str, Any]:
    return {
        "k": meta.k,
        "interval": meta.interval,
        "summary": asdict(meta.summary),
        "tau2": meta.tau2,
        "i2": meta.i2,
        "q": meta.q,
    }


def sensitivity_record(found: Sensitivity) -> dict[str, Any]:
    """The summaries with the tasks on which both systems are the same."""
    kept = ("tau2", "q", "q_df", "q_p_value", "i2", "prediction_interval")
    return {
        "assumption": "tasks on which both systems are the same have the pooled variance of the others",
        "pooled_variance": found.pooled.variance,
        "pooled_df": found.pooled.df,
        "tasks": {task: _same_task(one) for task, one in found.tasks.items()},
        "k": found.meta.k,
        "summary": asdict(found.meta.summary),
        "fixed_mean": asdict(found.fixed_mean),
        **{name: getattr(found.meta, name) for name in kept},
    }


def _same_task(task: SameTask) -> dict[str, Any]:
    """The task, without the tests that there are only with a margin."""
    return {name: value for name, value in asdict(task).items() if value is not None}
