"""Heterogeneity between tasks: Q, and the estimators and the Q-profile interval of the between-task variance tau2.

Reads and writes nothing. Roots are found to the last digits of a double; sums are taken about the most precise task,
so that variances of very different size do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize, special

_GRID = 400  # points of the restricted likelihood that are looked at before its maximum is refined


def weighted_mean(y: np.ndarray, weights: np.ndarray) -> float:
    """sum W Y / sum W, of `y` and `weights` of shape (k,)."""
    origin = y[np.argmax(weights)]
    return origin + (weights * (y - origin)).sum() / weights.sum()


def q_statistic(y: np.ndarray, variances: np.ndarray, tau2: float = 0.0) -> float:
    """sum W (Y - M)^2 with W = 1/(V + tau2): Cochran's Q at tau2 = 0, else the generalised Q of the Q-profile."""
    weights = 1 / (variances + tau2)
    return (weights * (y - weighted_mean(y, weights)) ** 2).sum()


def c_constant(variances: np.ndarray) -> float:
    """C = sum W - sum W^2 / sum W (Ranger, equation 9), without its cancellation."""
    weights = 1 / variances
    total = weights.sum()
    others = total - weights
    largest = np.argmax(weights)
    others[largest] = np.delete(weights, largest).sum()
    return (weights * others).sum() / total


def tau2_dl(y: np.ndarray, variances: np.ndarray) -> float:
    """DerSimonian and Laird's estimate (1986), truncated at 0."""
    return max(0.0, (q_statistic(y, variances) - (len(y) - 1)) / c_constant(variances))


def tau2_pm(y: np.ndarray, variances: np.ndarray) -> float:
    """Paule and Mandel's estimate (1982): the tau2 at which the generalised Q equals its expectation k - 1, or 0."""
    return _q_root(y, variances, len(y) - 1)


def tau2_reml(y: np.ndarray, variances: np.ndarray) -> float:
    """The restricted maximum likelihood estimate (Viechtbauer 2005), at its global maximum over tau2 >= 0.

    The restricted likelihood may have several maxima: it is scanned from 0 to a bound above which it only falls, and
    the root of its derivative beside the best point is then solved for.
    """
    spread = ((y - y.mean()) ** 2).sum() / (len(y) - 1)
    bound = max(variances.max(), 2 * spread)
    grid = np.concatenate([[0.0], np.geomspace(variances.min() * 1e-3, bound, _GRID)])
    best = int(np.argmax([_restricted_log_likelihood(y, variances, tau2) for tau2 in grid]))
    slope = _restricted_score(y, variances, grid[best])
    if slope <= 0 and best == 0:
        return 0.0
    low, high = (grid[best], grid[best + 1]) if slope > 0 else (grid[best - 1], grid[best])
    return _root(lambda tau2: _restricted_score(y, variances, tau2), low, high)


TAU2 = {"DL": tau2_dl, "REML": tau2_reml, "PM": tau2_pm}


def tau2_interval(y: np.ndarray, variances: np.ndarray, alpha: float) -> tuple[float, float]:
    """The (1 - alpha) Q-profile interval of tau2 (Viechtbauer 2007); an end below 0 is 0.

    Both ends are 0 where Q is so small that the interval lies below 0 as a whole.
    """
    df = len(y) - 1
    low = _q_root(y, variances, special.chdtri(df, alpha / 2))
    high = _q_root(y, variances, 2 * special.gammaincinv(df / 2, alpha / 2))
    return low, high


def _q_root(y: np.ndarray, variances: np.ndarray, target: float) -> float:
    """The tau2 >= 0 at which the generalised Q, which falls as tau2 grows, reaches `target`; 0 if it starts below."""
    if q_statistic(y, variances) <= target:
        return 0.0
    bound = ((y - y.mean()) ** 2).sum() / target  # there, Q < sum (Y - mean)^2 / tau2 = target
    return _root(lambda tau2: q_statistic(y, variances, tau2) - target, 0.0, bound)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    return float(optimize.brentq(function, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000))


def _restricted_log_likelihood(y: np.ndarray, variances: np.ndarray, tau2: float) -> float:
    """The restricted log-likelihood of tau2, up to a constant."""
    total = variances + tau2
    return -0.5 * (np.log(total).sum() + np.log((1 / total).sum()) + q_statistic(y, variances, tau2))


def _restricted_score(y: np.ndarray, variances: np.ndarray, tau2: float) -> float:
    """Twice the derivative of the restricted log-likelihood: y'PPy - tr P."""
    weights = 1 / (variances + tau2)
    residuals = y - weighted_mean(y, weights)
    return ((weights * residuals) ** 2).sum() - c_constant(variances + tau2)
