"""Heterogeneity between tasks: Q, and the Q-profile interval of the between-task variance tau2.

Reads and writes nothing; the estimators of tau2 are in statistics/estimators/. Roots are found to the last digits of a
double; sums are taken about the most precise task, to avoid cancellation with variances of very different size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

NEGLIGIBLE = 1e-10  # standard errors; two tasks with the same true effect are this close in one of 10^10 experiments
DIGITS = 8 * np.finfo(float).eps  # of the largest effect


def without_rounding(residuals: np.ndarray, effects: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """The residuals of `effects` with sampling `variances`, all of shape (k,); all 0 if they are only rounding errors.

    Effects are means of values with about 16 digits. If they are equal, or exactly on a line, a variance would be
    estimated from rounding errors, and a test with it would be meaningless.
    """
    bound = np.maximum(NEGLIGIBLE * np.sqrt(variances), DIGITS * np.abs(effects).max())
    return np.zeros_like(residuals) if (np.abs(residuals) <= bound).all() else residuals


def weighted_mean(y: np.ndarray, weights: np.ndarray) -> float:
    """sum W Y / sum W, of `y` and `weights` of shape (k,)."""
    origin = y[np.argmax(weights)]
    mean: float = origin + (weights * (y - origin)).sum() / weights.sum()
    return mean


def q_statistic(y: np.ndarray, variances: np.ndarray, tau2: float = 0.0) -> float:
    """sum W (Y - M)^2 with W = 1/(V + tau2): Cochran's Q at tau2 = 0, else the generalised Q of the Q-profile."""
    weights = 1 / (variances + tau2)
    q: float = (weights * without_rounding(y - weighted_mean(y, weights), y, variances) ** 2).sum()
    return q


def c_constant(variances: np.ndarray) -> float:
    """C = sum W - sum W^2 / sum W (Ranger, equation 9), without its cancellation."""
    weights = 1 / variances
    total = weights.sum()
    others = total - weights
    largest = np.argmax(weights)
    others[largest] = np.delete(weights, largest).sum()
    c: float = (weights * others).sum() / total
    return c


def tau2_interval(y: np.ndarray, variances: np.ndarray, alpha: float) -> tuple[float, float]:
    """The (1 - alpha) Q-profile interval of tau2 (Viechtbauer 2007); limits below 0 are set to 0.

    Both limits are 0 if Q is so small that the whole interval is below 0.
    """
    df = len(y) - 1
    low = q_root(y, variances, scipy.special.chdtri(df, alpha / 2))
    high = q_root(y, variances, 2 * scipy.special.gammaincinv(df / 2, alpha / 2))
    return low, high


def q_root(y: np.ndarray, variances: np.ndarray, target: float) -> float:
    """The tau2 >= 0 at which the generalised Q, which decreases in tau2, equals `target`; 0 if it starts below."""
    if q_statistic(y, variances) <= target:
        return 0.0
    bound = ((y - y.mean()) ** 2).sum() / target  # there, Q < sum (Y - mean)^2 / tau2 = target
    return root(lambda tau2: q_statistic(y, variances, tau2) - target, 0.0, bound)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """The root of a function that changes sign between `low` and `high`."""
    return float(scipy.optimize.brentq(function, low, high, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000))
