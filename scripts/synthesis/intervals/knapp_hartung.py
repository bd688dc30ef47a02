"""The interval of Hartung and Knapp (2001) and of Sidik and Jonkman (2002); reads and writes nothing.

As metafor's test = "knha": without the ad-hoc correction, so the interval may be narrower than the normal one where
the tasks agree better than by chance.
"""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import q_statistic, weighted_mean
from scripts.synthesis.summaries import Summary, t_summary

NAME = "knapp-hartung"
DESCRIPTION = "of Hartung and Knapp"
LABEL = "Knapp-Hartung"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- t(k - 1) sqrt(q / sum W*), q = sum W* (Y - M)^2 / (k - 1), W* = 1 / (V + tau2)."""
    weights, df = 1 / (variances + tau2), len(y) - 1
    scale = q_statistic(y, variances, tau2) / df
    return t_summary(weighted_mean(y, weights), scale / weights.sum(), df, alpha)
