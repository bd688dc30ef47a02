"""The meta-analysis of effects that depend on one another or on the seeds that were drawn.

Reads and writes nothing. Where tasks share nothing it is that of independent tasks (meta_analysis.py), to the last
digit if seeds have no part in it; else that of dependent_tasks.py. The luck of checkpoints is added to the variance of
the summary last (see structure.of_mean): what tasks have in common cannot be seen between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scripts.synthesis.dependence.dependent_tasks import ESTIMATOR, Combined, combined
from scripts.synthesis.dependence.structure import Dependence, of_mean
from scripts.synthesis.least_squares.satterthwaite import Part
from scripts.synthesis.meta_analysis import PREDICTION_LOSES, MetaAnalysis, meta_analysis, prediction_interval
from scripts.synthesis.summaries import Summary, normal_summary, part_summary
from scripts.synthesis.tails import chi2_upper


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
        return _dependent(independent, combined(y, dependence, interval, alpha), dependence, prediction)
    if not dependence.lucks:
        return independent
    meta = meta_analysis(y, dependence.variances, estimator, interval, alpha, prediction)
    assert meta.tau2 is not None  # there are two tasks
    weights, model_variance = np.array(meta.weights), float(1 / (1 / (dependence.variances + meta.tau2)).sum())
    summary = _with_seeds(meta.summary, dependence, weights, model_variance, alpha)
    return replace(
        _predicted(meta, summary, independent.prediction_df), fixed=independent.fixed, given_seeds=independent.summary
    )


def _one_task(meta: MetaAnalysis, dependence: Dependence, alpha: float) -> MetaAnalysis:
    """A task that is its own summary, with the luck of its seeds."""
    if not dependence.lucks:
        return meta
    known = Part(meta.summary.variance, math.inf if meta.summary.df is None else meta.summary.df)
    part = dependence.of_task(0, known)
    return replace(meta, summary=part_summary(meta.summary.effect, part, alpha), given_seeds=meta.summary)


def _dependent(independent: MetaAnalysis, found: Combined, dependence: Dependence, prediction: str) -> MetaAnalysis:
    alpha, df = independent.alpha, independent.k - 1
    given = part_summary(found.fit.mean, found.part, alpha)
    summary = given
    if dependence.lucks:
        summary = _with_seeds(given, dependence, found.fit.weights, found.fit.variance, alpha)
    q_tail = chi2_upper(found.fixed.q, df)
    meta = replace(
        independent,
        estimator=ESTIMATOR,
        interval=found.interval,
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
        given_seeds=given if dependence.lucks else None,
    )
    return _predicted(meta, summary, max(0, found.units - PREDICTION_LOSES[prediction]) or None)


def _with_seeds(
    given: Summary, dependence: Dependence, weights: np.ndarray, model_variance: float, alpha: float
) -> Summary:
    """The summary `given` the seeds, with their luck."""
    part = Part(given.variance, math.inf if given.df is None else given.df)
    return part_summary(given.effect, of_mean(part, model_variance, dependence, weights), alpha)


def _predicted(meta: MetaAnalysis, summary: Summary, df: int | None) -> MetaAnalysis:
    """The meta-analysis with this summary, and the prediction interval that follows from it."""
    assert meta.tau2 is not None
    interval = prediction_interval(summary, meta.tau2, df or 0, meta.alpha)
    return replace(meta, summary=summary, prediction_interval=interval, prediction_df=df)
