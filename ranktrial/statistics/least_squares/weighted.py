"""Weighted least squares for meta-regression: one design or many (permuted) designs at once.

Reads and writes nothing. X is the design (..., k, p) of k tasks and p coefficients, y are the effects (k,), and
W = 1 / (V + tau2) the weights (..., k); leading dimensions are broadcast. P = W - W X (X'WX)^-1 X'W (Viechtbauer 2005,
Bias and efficiency of meta-analytic variance estimators in the random-effects model). Designs are expected with
orthonormal columns (`orthonormal`), so that a moderator's origin and unit cost no digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

_HALVINGS = 120  # maximum number, in the search for a root
_EPS = 2 * np.finfo(float).eps


class WeightedFit(NamedTuple):
    """Coefficients (..., p), (X'WX)^-1 (..., p, p) and residuals (..., k)."""

    coefficients: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray


def orthonormal(design: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Q with orthonormal columns and R with Q R = the design (k, p), each column of which is scaled first."""
    size = np.linalg.norm(design, axis=0)
    q, r = np.linalg.qr(design / size)
    return q, r * size


def weighted_fit(design: np.ndarray, y: np.ndarray, weights: np.ndarray) -> WeightedFit:
    """The weighted least-squares fit of y."""
    weighted = design * weights[..., None]
    covariance = np.linalg.inv(np.swapaxes(weighted, -1, -2) @ design)
    coefficients = (covariance @ (np.swapaxes(weighted, -1, -2) @ y)[..., None])[..., 0]
    return WeightedFit(coefficients, covariance, y - (design @ coefficients[..., None])[..., 0])


def residual_q(design: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """y'Py, the weighted sum of squared residuals: QE at tau2 = 0."""
    q: np.ndarray = (weights * weighted_fit(design, y, weights).residuals ** 2).sum(axis=-1)
    return q


def trace_p(design: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """tr P."""
    weighted = design * weights[..., None]
    transposed = np.swapaxes(weighted, -1, -2)
    hat = np.linalg.inv(transposed @ design) @ (transposed @ weighted)
    trace: np.ndarray = weights.sum(axis=-1) - np.trace(hat, axis1=-2, axis2=-1)
    return trace


def falling_root(function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The root of a decreasing function of arrays between `low` and `high`, element by element."""
    low, high = low.copy(), high.copy()
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = function(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        if (high - low <= _EPS * high).all():
            break
    root: np.ndarray = (low + high) / 2
    return root
