"""REML: the restricted maximum likelihood estimate (Viechtbauer 2005); reads and writes nothing."""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import c_constant, root, weighted_mean

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
    best = int(np.argmax(_log_likelihoods(y, variances, grid)))
    slope = _score(y, variances, grid[best])
    if slope <= 0 and best == 0:
        return 0.0
    low, high = (grid[best], grid[best + 1]) if slope > 0 else (grid[best - 1], grid[best])
    return root(lambda value: _score(y, variances, value), low, high)


def _log_likelihoods(y: np.ndarray, variances: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The restricted log-likelihood of each value of tau2, up to a constant."""
    total = variances + values[:, np.newaxis]
    weights, distances = 1 / total, y - y[np.argmin(variances)]
    sums = weights.sum(axis=1)
    means = (weights * distances).sum(axis=1) / sums
    q = (weights * (distances - means[:, np.newaxis]) ** 2).sum(axis=1)
    likelihoods: np.ndarray = -0.5 * (np.log(total).sum(axis=1) + np.log(sums) + q)
    return likelihoods


def _score(y: np.ndarray, variances: np.ndarray, value: float) -> float:
    """Twice the derivative of the restricted log-likelihood: y'PPy - tr P."""
    weights = 1 / (variances + value)
    residuals = y - weighted_mean(y, weights)
    squares: float = ((weights * residuals) ** 2).sum()
    return squares - c_constant(variances + value)
