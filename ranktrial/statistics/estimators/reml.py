"""REML: the restricted maximum likelihood estimate (Viechtbauer 2005); reads and writes nothing."""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.heterogeneity import c_constant, root, weighted_mean
from ranktrial.statistics.least_squares import falling_root, residual_q, trace_p, weighted_fit

NAME = "REML"
DESCRIPTION = "restricted maximum likelihood"
LABEL = "REML"

_GRID = 400  # points at which the restricted likelihood is evaluated before its maximum is refined
_RESIDUAL_GRID = 80  # with moderators, since permutations need thousands of fits


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The global maximum of the restricted likelihood over tau2 >= 0.

    The restricted likelihood may have several maxima: it is evaluated on a grid from 0 to a bound above which it
    decreases, and the root of its derivative next to the best point is then found.
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


def residual_tau2(design: np.ndarray, y: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """The global maximum over tau2 >= 0 of the restricted likelihood with moderators, found as `tau2` is.

    Above twice the residual variance (or the largest sampling variance) the likelihood decreases: there y'PPy <= RSS /
    tau2^2 and tr P >= (k - p) / (2 tau2).
    """
    df = design.shape[-2] - design.shape[-1]
    spread = np.max(residual_q(design, y, np.ones_like(y))) / df
    bound = max(variances.max(), 2 * spread)
    grid = np.concatenate([[0.0], np.geomspace(variances.min() * 1e-3, bound, _RESIDUAL_GRID)])
    weights = 1 / (variances + grid[:, None])
    fits = weighted_fit(design[..., None, :, :], y, weights)
    log_determinants = np.log(weights).sum(axis=-1) + np.linalg.slogdet(fits.covariance)[1]
    best = np.argmax(log_determinants - (weights * fits.residuals**2).sum(axis=-1), axis=-1)

    def slope(tau2: np.ndarray) -> np.ndarray:
        weights = 1 / (variances + tau2[..., None])
        squares = ((weights * weighted_fit(design, y, weights).residuals) ** 2).sum(axis=-1)
        return np.asarray(squares - trace_p(design, weights))

    low, high = grid[np.maximum(best - 1, 0)], grid[np.minimum(best + 1, len(grid) - 1)]
    rising = slope(grid[best]) > 0
    found = falling_root(slope, np.where(rising, grid[best], low), np.where(rising, high, grid[best]))
    return np.where((best == 0) & ~rising, 0.0, found)
