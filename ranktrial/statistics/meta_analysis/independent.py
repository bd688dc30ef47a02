"""Fixed-effect and random-effects meta-analysis of the effects of k independent tasks.

Reads and writes nothing: takes arrays of estimates and sampling variances and returns a MetaAnalysis. Tests compare the
numbers with R's metafor (Viechtbauer 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.intervals import fit_of, has_own_weights, interval_named
from ranktrial.statistics.meta_analysis.heterogeneity import c_constant, q_statistic, tau2_interval, weighted_mean
from ranktrial.statistics.meta_analysis.prediction import CONFIDENCE_DISTRIBUTION, prediction_interval
from ranktrial.statistics.meta_analysis.summaries import Summary, normal_summary
from ranktrial.statistics.meta_analysis.tails import chi2_upper


@dataclass(frozen=True)
class MetaResult:
    """A random-effects meta-analysis of k tasks, with the fixed-effect summary for reference.

    `i2` is in percent. Heterogeneity needs two tasks and the prediction interval four; with fewer they are None.
    `prediction_df` is None if it is not based on a t distribution.
    """

    k: int
    estimator: str
    interval: str
    alpha: float
    summary: Summary
    fixed: Summary
    tau2: float | None
    tau2_ci: tuple[float, float] | None
    q: float | None
    q_df: int | None
    q_p_value: float | None
    q_log10_p: float | None
    i2: float | None
    h2: float | None
    prediction_interval: tuple[float, float] | None
    prediction_df: int | None
    given_seeds: Summary | None = None  # the summary without seed variance, if `summary` includes it
    tau2_levels: tuple[float, ...] | None = None  # between tasks and between collections, if both are estimated


@dataclass(frozen=True, kw_only=True)
class MetaAnalysis(MetaResult):
    """The same with the weights of the tasks in the summary: of shape k, with sum 1."""

    weights: tuple[float, ...]


def meta_analysis(
    estimates: Sequence[float] | np.ndarray,
    variances: Sequence[float] | np.ndarray,
    estimator: str = "REML",
    interval: str = "equal-weights",
    alpha: float = 0.05,
    prediction: str = CONFIDENCE_DISTRIBUTION,
) -> MetaAnalysis:
    """Combine `estimates` with their sampling `variances`, both of shape (k,), k >= 1.

    estimator: of tau2, a name in statistics/estimators/; interval: one in statistics/intervals/; prediction: the name
    of a prediction interval (prediction.py). A single task: its effect with a normal interval, without a meta-analysis.
    ValueError: an empty or uneven input, a variance that is not positive, an unknown name.
    """
    y, v = _checked(estimates, variances)
    k, df = len(y), len(y) - 1
    estimate_tau2, summarise = estimator_named(estimator).tau2, interval_named(interval).summary
    fixed = normal_summary(weighted_mean(y, 1 / v), 1 / (1 / v).sum(), alpha)
    if k == 1:
        return MetaAnalysis(1, estimator, "normal", alpha, fixed, fixed, *(None,) * 10, weights=(1.0,))
    tau2 = float(estimate_tau2(y, v))
    summary, q = summarise(y, v, tau2, alpha), q_statistic(y, v)
    predicted = prediction_interval(prediction, summary, tau2, y, np.diag(v), k, alpha)
    q_tail = chi2_upper(q, df)
    typical = df / c_constant(v)  # Higgins and Thompson's (2002) typical sampling variance
    return MetaAnalysis(
        k=k,
        estimator=estimator,
        interval=interval,
        alpha=alpha,
        summary=summary,
        fixed=fixed,
        weights=_weights(y, v, tau2, interval),
        tau2=tau2,
        tau2_ci=tau2_interval(y, v, alpha),
        q=float(q),
        q_df=df,
        q_p_value=q_tail.p,
        q_log10_p=q_tail.log10_p,
        i2=float(100 * tau2 / (tau2 + typical)),
        h2=float(tau2 / typical + 1),
        prediction_interval=predicted.interval,
        prediction_df=predicted.df,
    )


def _checked(
    estimates: Sequence[float] | np.ndarray, variances: Sequence[float] | np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    y, v = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if y.ndim != 1 or y.shape != v.shape or not len(y):
        raise ValueError(f"estimates and variances must be vectors of one length, not {y.shape} and {v.shape}")
    if not (np.isfinite(y).all() and np.isfinite(v).all() and (v > 0).all()):
        raise ValueError("estimates must be finite, and variances finite and positive")
    return y, v


def _weights(y: np.ndarray, v: np.ndarray, tau2: float, interval: str) -> tuple[float, ...]:
    """The weights of the tasks in the summary, with sum 1."""
    weights = fit_of(interval)(y, np.diag(v + tau2)).weights if has_own_weights(interval) else 1 / (v + tau2)
    return tuple((weights / weights.sum()).tolist())
