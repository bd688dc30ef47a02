"""Wins, ties and losses over queries, and the probability of superiority.

Reads and writes nothing. For paired scores, the probability of superiority is that of a win, with ties half (Grissom
and Kim 2005, Effect Sizes for Research, chapter 5, PS_dep; Vargha and Delaney 2000):

    PS = (wins + ties / 2) / n

Its interval is Wilson's (1927) for a proportion of n. A query's score is 1, 1/2 or 0, whose variance is at most
PS (1 - PS), that of a proportion, so that ties make the interval conservative, and it stays within 0 and 1. With
clusters of queries, n is divided by their design effect (at least 1), and the quantile is that of t with their degrees
of freedom (Korn and Graubard 1998, Survey Methodology 24(2), 193-201); if all scores are the same, n is the effective
number of clusters. Seeds are taken as given.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.units import clustered, effective_number

ROUNDING = 64 * float(np.finfo(float).eps)  # relative: sums over some dozens of seeds
LEAST = 1e-12  # gains are smaller than the values from whose rounding they differ


def without_rounding(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x - y, of the shape of both; 0 where they differ only in their last digits, as means over other seeds do."""
    difference = x - y
    rounding = np.maximum(LEAST, ROUNDING * np.maximum(np.abs(x), np.abs(y)))
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


class Superiority(NamedTuple):
    """The queries that the treatment wins, ties and loses, and its probability of superiority with its interval."""

    wins: int
    ties: int
    losses: int
    superiority: float
    ci_low: float
    ci_high: float


def superiority(gains: np.ndarray, alpha: float, units: np.ndarray | None = None) -> Superiority:
    """From the `gains` of the treatment, shape (n,), n >= 1, each above 0 where it is better than the control, and
    exactly 0 where both are the same; `units` number the clusters of queries from 0, by default each its own.
    """
    n = len(gains)
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    ties = n - wins - losses
    share = (wins + ties / 2) / n
    z2 = _squared_quantile((np.sign(gains) + 1) / 2, alpha, units)
    if z2 is None:
        return Superiority(wins, ties, losses, share, 0.0, 1.0)
    centre, half = share + z2 / 2, math.sqrt(z2 * (share * (1 - share) + z2 / 4))
    low, high = ((centre + sign * half) / (1 + z2) for sign in (-1, 1))
    return Superiority(wins, ties, losses, share, max(0.0, low), min(1.0, high))


def _squared_quantile(scores: np.ndarray, alpha: float, units: np.ndarray | None) -> float | None:
    """z^2 / n, or t^2 / effective n, of the interval of the mean score; None for a single cluster of queries."""
    n = len(scores)
    if units is None or len(np.unique(units)) == n:
        return float(scipy.special.ndtri(alpha / 2)) ** 2 / n
    residuals = scores - scores.mean()
    of_clusters = clustered(residuals, units)
    if of_clusters is None:
        return None
    size = n / max(1.0, of_clusters.design_effect) if residuals.any() else effective_number(units.tolist())
    return float(scipy.special.stdtrit(of_clusters.df, alpha / 2)) ** 2 / size
