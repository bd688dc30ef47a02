"""DL: the estimate of DerSimonian and Laird (1986), Meta-analysis in clinical trials; reads and writes nothing."""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.heterogeneity import c_constant, q_statistic
from ranktrial.statistics.least_squares import residual_q, trace_p

NAME = "DL"
DESCRIPTION = "DerSimonian and Laird"
LABEL = "DL"


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The moment estimate, truncated at 0."""
    return max(0.0, (q_statistic(y, variances) - (len(y) - 1)) / c_constant(variances))


def residual_tau2(design: np.ndarray, y: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """The moment estimate of residual tau2: max(0, (QE - (k - p)) / tr P)."""
    weights, df = 1 / variances, design.shape[-2] - design.shape[-1]
    tau2: np.ndarray = np.maximum(0.0, (residual_q(design, y, weights) - df) / trace_p(design, weights))
    return tau2
