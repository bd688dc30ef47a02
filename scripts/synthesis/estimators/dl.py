"""DL: the estimate of DerSimonian and Laird (1986), Meta-analysis in clinical trials; reads and writes nothing."""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import c_constant, q_statistic

NAME = "DL"
DESCRIPTION = "DerSimonian and Laird"
LABEL = "DL"


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The moment estimate, truncated at 0."""
    return max(0.0, (q_statistic(y, variances) - (len(y) - 1)) / c_constant(variances))
