"""The meta-analysis of independent tasks, with its prediction interval; reads and writes nothing.

Prediction intervals for the true effect of a new task, given the effects of k tasks.

With y the effects, V their sampling covariance, M their mean with the interval M +- h:

| kind | interval |
|---|---|
| confidence-distribution | M +- the 1 - alpha/2 quantile of a mixture of N(0, (h/z)^2 + tau_p^2) over p in (0, 1) |
| k-2, k-1 | M +- t(k - 2) or t(k - 1) sqrt(tau2 + V_M), never narrower than h |

tau_p^2 is the p quantile of the confidence distribution of tau2: the generalised Q(tau_p^2) is the 1 - p quantile of
chi2(k - 1); 0 if Q(0) is already below it. The first is that of Nagashima, Noma and Furukawa (2019), Prediction
intervals for random-effects meta-analysis: a confidence distribution approach, Statistical Methods in Medical Research
28(6), 1689-1702, with the summary's own interval in place of theirs, so that it includes what the summary includes
(seed variance) and is never narrower. k - 2: Higgins, Thompson and Spiegelhalter (2009), metafor's pi.type = "riley"; k
- 1: what metafor uses with a Knapp-Hartung interval (Partlett and Riley 2017 compare them).

Fixed-effect and random-effects meta-analysis of the effects of k independent tasks.

Tests compare the
numbers with R's metafor (Viechtbauer 2010).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.estimators import estimator_named
from ranktrial.statistics.heterogeneity import c_constant, q_statistic, tau2_interval, weighted_mean
from ranktrial.statistics.intervals import fit_of, has_own_weights, interval_named
from ranktrial.statistics.summaries import Summary, chi2_upper, legendre, normal_summary

CONFIDENCE_DISTRIBUTION = "confidence-distribution"
LOSES = {"k-2": 2, "k-1": 1}  # degrees of freedom lost, of k tasks
FEWEST = 4  # tasks: with three, a prediction for a fourth is uninformative
NODES = 40
HALVINGS = 70


class Predicted(NamedTuple):
    """A prediction interval, None with too few tasks, and the degrees of freedom of its t distribution, if any."""

    interval: tuple[float, float] | None
    df: int | None


def prediction_interval(
    kind: str, summary: Summary, tau2: float, y: np.ndarray, sampling: np.ndarray, units: int, alpha: float
) -> Predicted:
    """The (1 - alpha) prediction interval around a summary of the effects `y`, shape (k,).

    `sampling` (k, k) is their covariance, `tau2` the variance between tasks, `units` the number of tasks (or
    collections, if these are a level) from which it is estimated.
    """
    if units < FEWEST:
        return Predicted(None, None)
    half = (summary.ci_high - summary.ci_low) / 2
    df = units - LOSES[kind] if kind in LOSES else None
    wide = (
        _half_width(half, *confidence_distribution(y, sampling), alpha)
        if df is None
        else half_width(summary, tau2, df, alpha)
    )
    wide = max(wide, half)
    return Predicted((summary.effect - wide, summary.effect + wide), df)


def half_width(summary: Summary, tau2: float, df: int, alpha: float) -> float:
    """t(df; 1 - alpha/2) sqrt(tau2 + V_M)."""
    return -float(scipy.special.stdtrit(df, alpha / 2)) * math.sqrt(tau2 + summary.variance)


def confidence_distribution(y: np.ndarray, sampling: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values of tau, the last of them 0, with their weights in its confidence distribution.

    Above 0, they are Gauss-Legendre nodes in p, denser towards both ends.
    """
    df = len(y) - 1
    variances, vectors = np.linalg.eigh(sampling)
    effects, ones = vectors.T @ (y - y.mean()), vectors.T @ np.ones(len(y))

    def q(tau2: np.ndarray) -> np.ndarray:
        weights = 1 / (variances + tau2[:, None])
        mean = (weights * ones * effects).sum(axis=1) / (weights * ones**2).sum(axis=1)
        generalised: np.ndarray = (weights * (effects - mean[:, None] * ones) ** 2).sum(axis=1)
        return generalised

    above_0 = float(scipy.special.chdtr(df, q(np.zeros(1))[0]))
    if not above_0:
        return np.zeros(1), np.ones(1)
    x, weights = legendre(NODES)
    x, weights = (x + 1) / 2, weights / 2
    levels, shares = above_0 * x**2 * (3 - 2 * x), above_0 * weights * 6 * x * (1 - x)
    targets = 2 * scipy.special.gammaincinv(df / 2, levels)
    low, high = np.zeros(NODES), (effects**2).sum() / targets  # q is below its target there
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = q(middle) > targets
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.append(np.sqrt((low + high) / 2), 0.0), np.append(shares, 1 - above_0)


def _half_width(half: float, taus: np.ndarray, shares: np.ndarray, alpha: float) -> float:
    """The 1 - alpha/2 quantile of the mixture."""
    z = -float(scipy.special.ndtri(alpha / 2))
    sds = np.hypot(half / z, taus)
    if not sds.all():  # equal effects and an interval that is a point
        return half

    def missing(value: float) -> float:
        return float((shares * scipy.special.ndtr(value / sds)).sum() - (1 - alpha / 2))

    return half if missing(half) >= 0 else float(scipy.optimize.brentq(missing, half, z * sds.max()))


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
