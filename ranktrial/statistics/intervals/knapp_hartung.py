"""The interval of Hartung and Knapp (2001), never narrower than the normal one; reads and writes nothing.

If effects differ less than expected from sampling error, the interval of Hartung and Knapp shrinks without limit, below
that of one precise task. Here the wider of it and the normal interval with the same tau2 is used, so that it is never
narrower than that of a fixed effect. Röver, Knapp and Friede (2015), Hartung-Knapp-Sidik-Jonkman approach and its
modification for random-effects meta-analysis with few studies, BMC Medical Research Methodology 15:99, bound the scale
q instead (metafor's test = "adhoc"): with the t distribution of few tasks, that is wider than necessary.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.heterogeneity import q_statistic, weighted_mean
from ranktrial.statistics.least_squares import Fit
from ranktrial.statistics.summaries import Part, Summary, widest_summary

NAME = "knapp-hartung"
DESCRIPTION = "of Hartung and Knapp, never narrower than the normal one"
LABEL = "Knapp-Hartung"


def summary(y: np.ndarray, variances: np.ndarray, tau2: float, alpha: float) -> Summary:
    """M +- max(t(k - 1) sqrt(q), z) / sqrt(sum W*), q = sum W* (Y - M)^2 / (k - 1), W* = 1 / (V + tau2)."""
    weights, df = 1 / (variances + tau2), len(y) - 1
    parts = _parts(q_statistic(y, variances, tau2) / df, float(1 / weights.sum()), df)
    return widest_summary(weighted_mean(y, weights), parts, alpha)


def of_fit(fit: Fit) -> tuple[Part, ...]:
    """Both variances and their degrees of freedom for dependent tasks."""
    df = len(fit.y) - 1
    return _parts(fit.q / df, fit.variance, df)


def _parts(q: float, variance: float, df: int) -> tuple[Part, ...]:
    return Part(q * variance, df), Part(variance, math.inf)
