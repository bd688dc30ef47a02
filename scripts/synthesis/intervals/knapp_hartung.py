"""The interval of Hartung and Knapp (2001), its scale at least 1; reads and writes nothing.

As metafor's test = "adhoc". Röver, Knapp and Friede (2015), Hartung-Knapp-Sidik-Jonkman approach and its modification
for random-effects meta-analysis with few studies, BMC Medical Research Methodology 15:99. With the scale at least 1
it is never narrower than the normal interval with the same tau2, so never narrower than that of a fixed effect.
"""

from __future__ import annotations

import numpy as np

from scripts.synthesis.heterogeneity import q_statistic, weighted_mean
from scripts.synthesis.least_squares.gls import Fit
from scripts.synthesis.least_squares.satterthwaite import Part
from scripts.synthesis.summaries import Summary, t_summary

NAME = "knapp-hartung"
DESCRIPTION = "of Hartung and Knapp, never narrower than the normal one"
LABEL = "Knapp-Hartung"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- t(k - 1) sqrt(max(1, q) / sum W*), q = sum W* (Y - M)^2 / (k - 1), W* = 1 / (V + tau2)."""
    weights, df = 1 / (variances + tau2), len(y) - 1
    scale = max(1.0, q_statistic(y, variances, tau2) / df)
    return t_summary(weighted_mean(y, weights), scale / weights.sum(), df, alpha)


def of_fit(fit: Fit) -> Part:
    """The variance times max(1, q), and its degrees of freedom, for dependent tasks."""
    df = len(fit.y) - 1
    return Part(max(1.0, fit.q / df) * fit.variance, df)
