"""The meta-analysis of dependent effects and of effects with seed variance.

Reads and writes nothing. For tasks that share nothing, it is that of independent tasks (independent.py), to the last
digit without seed variance; else that of dependent_tasks.py. Seed variance is added to the variance of the summary last
(see structure.of_mean), since the scatter of tasks does not show what they share. It never narrows an interval: its
degrees of freedom could, so the variances with given seeds are kept beside those with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ranktrial.statistics.dependence.structure import Dependence, of_mean
from ranktrial.statistics.meta_analysis.dependent_tasks import ESTIMATOR, Combined, combined
from ranktrial.statistics.meta_analysis.independent import MetaAnalysis, meta_analysis
from ranktrial.statistics.meta_analysis.prediction import prediction_interval
from ranktrial.statistics.meta_analysis.summaries import Summary, normal_summary, widest_summary
from ranktrial.statistics.meta_analysis.tails import chi2_upper


def dependent_meta_analysis(
    estimates: Sequence[float] | np.ndarray,
    dependence: Dependence,
    estimator: str,
    interval: str,
    alpha: float,
    prediction: str,
) -> MetaAnalysis:
    """Combine `estimates`, shape (k,), k >= 1; the settings are those of `meta_analysis`."""
    y, variances = np.asarray(estimates, dtype=float), np.diag(dependence.sampling)
    independent = meta_analysis(y, variances, estimator, interval, alpha, prediction)
    if independent.k == 1:
        return _one_task(independent, dependence, alpha)
    if not dependence.independent:
        return _dependent(independent, y, combined(y, dependence, interval, alpha), dependence, prediction)
    if not dependence.seed_effects:
        return independent
    meta = meta_analysis(y, dependence.variances, estimator, interval, alpha, prediction)
    assert meta.tau2 is not None  # there are two tasks
    weights = np.array(meta.weights)
    model_variance = float((weights**2 * (dependence.variances + meta.tau2)).sum())
    summary = _with_seeds(meta.summary, independent.summary, dependence, weights, model_variance, alpha)
    meta = replace(meta, summary=summary, fixed=independent.fixed, given_seeds=independent.summary)
    return _predicted(meta, y, dependence, prediction, meta.k)


def _one_task(meta: MetaAnalysis, dependence: Dependence, alpha: float) -> MetaAnalysis:
    """The effect of the only task as the summary, with seed variance."""
    if not dependence.seed_effects:
        return meta
    parts = [dependence.of_task(0, part) for part in meta.summary.parts]
    summary = widest_summary(meta.summary.effect, [*parts, *meta.summary.parts], alpha)
    return replace(meta, summary=summary, given_seeds=meta.summary)


def _dependent(
    independent: MetaAnalysis, y: np.ndarray, found: Combined, dependence: Dependence, prediction: str
) -> MetaAnalysis:
    alpha, df = independent.alpha, independent.k - 1
    given = widest_summary(found.fit.mean, found.parts, alpha)
    summary = given
    if dependence.seed_effects:
        summary = _with_seeds(given, given, dependence, found.fit.weights, found.fit.variance, alpha)
    q_tail = chi2_upper(found.fixed.q, df)
    meta = replace(
        independent,
        estimator=ESTIMATOR,
        interval=found.interval,
        summary=summary,
        fixed=normal_summary(found.fixed.mean, found.fixed.variance, alpha),
        weights=tuple(found.fit.weights.tolist()),
        tau2=found.tau2,
        tau2_levels=found.levels if len(found.levels) > 1 else None,
        tau2_ci=found.tau2_ci,
        q=found.fixed.q,
        q_p_value=q_tail.p,
        q_log10_p=q_tail.log10_p,
        i2=100 * found.tau2 / (found.tau2 + found.typical),
        h2=found.tau2 / found.typical + 1,
        given_seeds=given if dependence.seed_effects else None,
    )
    return _predicted(meta, y, dependence, prediction, found.units)


def _with_seeds(
    summary: Summary,
    given: Summary,
    dependence: Dependence,
    weights: np.ndarray,
    model_variance: float,
    alpha: float,
) -> Summary:
    """The `summary`, which has only unshared seed variance, with all seed variance; never narrower than `given`.

    `weights` and `model_variance` are those of the summary's mean.
    """
    parts = [of_mean(part, model_variance, dependence, weights) for part in summary.parts]
    return widest_summary(summary.effect, [*parts, *given.parts], alpha)


def _predicted(meta: MetaAnalysis, y: np.ndarray, dependence: Dependence, prediction: str, units: int) -> MetaAnalysis:
    """The meta-analysis with the prediction interval of its summary."""
    assert meta.tau2 is not None
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    found = prediction_interval(prediction, meta.summary, meta.tau2, y, sampling, units, meta.alpha)
    return replace(meta, prediction_interval=found.interval, prediction_df=found.df)
