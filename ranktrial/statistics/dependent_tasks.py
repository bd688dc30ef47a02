"""The meta-analysis of dependent effects and of effects with seed variance; reads and writes nothing.

For tasks that share nothing, it is that of independent tasks (independent_tasks.py), to the last
digit without seed variance; else that of dependent ones. Seed variance is added to the variance of the summary last
(see dependence.of_mean), since the scatter of tasks does not show what they share. It never narrows an interval: its
degrees of freedom could, so the variances with given seeds are kept beside those with it.

The mean of effects whose tasks share queries or a collection, with its interval and heterogeneity.

The sampling covariance is known; the variance between tasks, or between collections and
between the tasks of a collection, is estimated by restricted maximum likelihood (see least_squares.py). The
interval is the configured one; if it does not support dependent tasks, that of Knapp and Hartung is used. If
collections are a level, it is CR2, whose variance and degrees of freedom are both over collections, unless the variance
is treated as known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ranktrial.statistics.dependence import Dependence, of_mean
from ranktrial.statistics.estimators.reml import NAME as ESTIMATOR
from ranktrial.statistics.independent_tasks import MetaAnalysis, meta_analysis, prediction_interval
from ranktrial.statistics.intervals import fit_of, has_own_weights, interval_named, knapp_hartung, normal, robust
from ranktrial.statistics.least_squares import Fit, cr2, gls, omega_of, projection, reml, structures, tau2_interval
from ranktrial.statistics.summaries import Part, Summary, chi2_upper, normal_summary, widest_summary


class Combined(NamedTuple):
    """`parts` are the variances of the mean by `interval`, given the seeds. `tau2` is the sum of `levels`, the
    variances between tasks and, with this level, between collections; `units` is the number of units of the highest.
    """

    fit: Fit
    fixed: Fit
    interval: str
    parts: tuple[Part, ...]
    tau2: float
    levels: tuple[float, ...]
    tau2_ci: tuple[float, float] | None
    typical: float
    units: int


def combined(y: np.ndarray, dependence: Dependence, interval: str, alpha: float) -> Combined:
    """Combine the effects `y`, shape (k,), k >= 2."""
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    z = structures(dependence.collections)
    levels = reml(y, sampling, z)
    fit = fit_of(interval)(y, omega_of(sampling, z, levels), dependence.collections, sampling)
    fit = replace(fit, sampling_df=_covariance_df(dependence))
    units = fit.n_collections if len(z) > 1 else len(y)
    kind, parts = parts_of(fit, interval, len(z))
    return Combined(
        fit=fit,
        fixed=gls(y, dependence.sampling),
        interval=kind,
        parts=parts,
        tau2=sum(levels),
        levels=levels,
        tau2_ci=tau2_interval(y, sampling, alpha) if len(z) == 1 else None,
        typical=(len(y) - 1) / float(np.trace(projection(sampling))),
        units=units,
    )


def _covariance_df(dependence: Dependence) -> float:
    """The degrees of freedom of the tasks' covariance: the fewest of tasks that covary, as in fixed_mean.py."""
    covaries = (dependence.sampling != 0).sum(axis=1) > 1
    return min((df for df, one in zip(dependence.degrees, covaries, strict=True) if one), default=math.inf)


def parts_of(fit: Fit, interval: str, levels: int) -> tuple[str, tuple[Part, ...]]:
    """The variances by an interval for a fit with this number of levels, and the name of the interval used.

    With a level of collections, a variance estimated from the tasks does not have the tasks' degrees of freedom, and
    with the few of the collections it would be too wide: CR2 estimates it from the collections. The normal interval
    treats its variance as known.
    """
    of_fit = getattr(interval_named(interval), "of_fit", None)
    parts: tuple[Part, ...] | None = of_fit(fit) if of_fit else None
    if parts is None:
        interval, parts = knapp_hartung.NAME, knapp_hartung.of_fit(fit)
    as_tasks = levels > 1 and interval != normal.NAME and not has_own_weights(interval)
    return (robust.NAME, (cr2(fit),)) if as_tasks else (interval, parts)


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
