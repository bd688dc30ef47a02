"""REML: the restricted maximum likelihood estimate (Viechtbauer 2005); reads and writes nothing."""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import c_constant, q_statistic, root, weighted_mean

NAME = "REML"
DESCRIPTION = "restricted maximum likelihood"
LABEL = "REML"

_GRID = 400  # points of the restricted likelihood that are looked at before its maximum is refined


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The global maximum of the restricted likelihood over tau2 >= 0.

    The restricted likelihood may have several maxima: it is scanned from 0 to a bound above which it only falls, and
    the root of its derivative beside the best point is then solved for.
    """
    spread = ((y - y.mean()) ** 2).sum() / (len(y) - 1)
    bound = max(variances.max(), 2 * spread)
    grid = np.concatenate([[0.0], np.geomspace(variances.min() * 1e-3, bound, _GRID)])
    best = int(np.argmax([_log_likelihood(y, variances, value) for value in grid]))
    slope = _score(y, variances, grid[best])
    if slope <= 0 and best == 0:
        return 0.0
    low, high = (grid[best], grid[best + 1]) if slope > 0 else (grid[best - 1], grid[best])
    return root(lambda value: _score(y, variances, value), low, high)


def _log_likelihood(y: np.ndarray, variances: np.ndarray, value: float) -> float:
    """The restricted log-likelihood of tau2, up to a constant."""
    total = variances + value
    log_determinants: float = np.log(total).sum() + np.log((1 / total).sum())
    return -0.5 * (log_determinants + q_statistic(y, variances, value))


def _score(y: np.ndarray, variances: np.ndarray, value: float) -> float:
    """Twice the derivative of the restricted log-likelihood: y'PPy - tr P."""
    weights = 1 / (variances + value)
    residuals = y - weighted_mean(y, weights)
    squares: float = ((weights * residuals) ** 2).sum()
    return squares - c_constant(variances + value)
