"""PM: the estimate of Paule and Mandel (1982), Consensus values and weighting factors; reads and writes nothing."""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import q_root

NAME = "PM"
DESCRIPTION = "Paule and Mandel"
LABEL = "PM"


def tau2(y: np.ndarray, variances: np.ndarray) -> float:
    """The tau2 at which the generalised Q equals its expectation k - 1, or 0."""
    return q_root(y, variances, len(y) - 1)
