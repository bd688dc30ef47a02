"""Wins, ties and losses over queries, and the probability of superiority.

Reads and writes nothing. For paired scores, the probability of superiority is that of a win, with ties half (Grissom
and Kim 2005, Effect Sizes for Research, chapter 5, PS_dep; Vargha and Delaney 2000):

    PS = (wins + ties / 2) / n

Its interval is Wilson's (1927) for a proportion of n. A query's score is 1, 1/2 or 0, whose variance is at most
PS (1 - PS), that of a proportion, so that ties make the interval conservative, and it stays within 0 and 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are first used

ROUNDING = 64 * float(np.finfo(float).eps)  # relative: sums over some dozens of seeds


def without_rounding(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x - y, of the shape of both; 0 where they differ only in their last digits, as means over other seeds do."""
    difference = x - y
    return np.where(np.abs(difference) <= ROUNDING * np.maximum(np.abs(x), np.abs(y)), 0.0, difference)


class Superiority(NamedTuple):
    """The queries that the treatment wins, ties and loses, and its probability of superiority with its interval."""

    wins: int
    ties: int
    losses: int
    superiority: float
    ci_low: float
    ci_high: float


def superiority(gains: np.ndarray, alpha: float) -> Superiority:
    """From the `gains` of the treatment, shape (n,), n >= 1, each above 0 where it is better than the control, and
    exactly 0 where both are the same.
    """
    n = len(gains)
    wins, losses = int((gains > 0).sum()), int((gains < 0).sum())
    ties = n - wins - losses
    share = (wins + ties / 2) / n
    z2 = float(scipy.special.ndtri(alpha / 2)) ** 2
    centre, half = (share + z2 / (2 * n)), math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2)))
    low, high = ((centre + sign * half) / (1 + z2 / n) for sign in (-1, 1))
    return Superiority(wins, ties, losses, share, max(0.0, low), min(1.0, high))
