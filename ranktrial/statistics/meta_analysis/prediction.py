"""Prediction intervals for the true effect of a new task, given the effects of k tasks.

Reads and writes nothing. With y the effects, V their sampling covariance, M their mean with the interval M +- h:

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
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.meta_analysis.summaries import Summary
from ranktrial.statistics.quadrature import legendre

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
