"""PM: the estimate of Paule and Mandel (1982), Consensus values and weighting factors; reads and writes nothing."""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.heterogeneity import q_root
from ranktrial.statistics.least_squares import falling_root, residual_q

NAME = "PM"
DESCRIPTION = "Paule and Mandel"
LABEL = "PM"


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The tau2 at which the generalised Q equals its expectation k - 1, or 0."""
    return q_root(y, variances, len(y) - 1)


def residual_tau2(design: np.ndarray, y: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """The tau2 at which y'Py, which falls as tau2 grows, equals its expectation k - p; or 0."""
    df = design.shape[-2] - design.shape[-1]

    def excess(tau2: np.ndarray) -> np.ndarray:
        return np.asarray(residual_q(design, y, 1 / (variances + tau2[..., None])) - df)

    nothing = np.zeros(design.shape[:-2])
    bound = residual_q(design, y, np.ones_like(y)) / df  # there, y'Py < sum of squared residuals / tau2 = k - p
    return np.where(excess(nothing) > 0, falling_root(excess, nothing, bound), 0.0)
