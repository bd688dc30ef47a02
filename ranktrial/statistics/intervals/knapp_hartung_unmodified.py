"""The original interval of Hartung and Knapp (2001) and of Sidik and Jonkman (2002); reads and writes nothing.

As metafor's test = "knha". If effects differ less than expected from sampling error, it is narrower than that of one
precise task, and a point if they are equal: with few tasks this happens by chance, so it is not the default.
"""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.heterogeneity import q_statistic, weighted_mean
from ranktrial.statistics.least_squares import Fit
from ranktrial.statistics.summaries import Part, Summary, t_summary

NAME = "knapp-hartung-unmodified"
DESCRIPTION = "of Hartung and Knapp, which shrinks without limit if tasks agree"
LABEL = "unmodified Knapp-Hartung"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- t(k - 1) sqrt(q / sum W*), q = sum W* (Y - M)^2 / (k - 1), W* = 1 / (V + tau2)."""
    weights, df = 1 / (variances + tau2), len(y) - 1
    scale = q_statistic(y, variances, tau2) / df
    return t_summary(weighted_mean(y, weights), scale / weights.sum(), df, alpha)


def of_fit(fit: Fit) -> tuple[Part, ...]:
    """The variance times q, and its degrees of freedom, for dependent tasks."""
    df = len(fit.y) - 1
    return (Part(fit.q / df * fit.variance, df),)
