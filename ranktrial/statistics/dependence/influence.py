"""The influence of each query on a task's effect: its jackknife value, for any effect type.

Without query j the effect is theta_(-j), and

    e_j = (n - 1) (theta - theta_(-j)),

the jackknife's pseudo-value minus theta (Efron and Tibshirani 1993, An Introduction to the Bootstrap, chapter 11). For
a mean difference it is d_j - D itself. Sums of e_j over the queries of a cluster show their covariance.
Reads and writes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ranktrial.statistics.effects import effect_named


def influence(x: np.ndarray, y: np.ndarray, effect_type: str, ddof: int, keys: Any) -> np.ndarray | None:
    """e of each query, shape (n,), with mean 0; None if the effect is undefined without one of the queries."""
    effect = effect_named(effect_type)
    if effect.IN_UNITS_OF_MEASURE:
        difference = x - y
        return np.asarray(difference - difference.mean())
    n = len(x)
    estimates = np.empty(n)
    for j in range(n):
        result = effect.compute(np.delete(x, j), np.delete(y, j), ddof, keys)
        if isinstance(result, str):
            return None
        estimates[j] = result[0]
    values: np.ndarray = (n - 1) * (estimates.mean() - estimates)
    return values


def per_unit_of_measure(x: np.ndarray, y: np.ndarray, effect_type: str, ddof: int, keys: Any) -> float:
    """The change of the effect if the treatment is better by 1 on every query: 1 for a mean difference.

    It converts a seed effect, which is the same for all queries of a task, to the unit of the effect: J / S for a
    standardised difference, and 0 for a correlation, which does not change. It is a derivative with a step of 1e-6.
    """
    effect = effect_named(effect_type)
    if effect.IN_UNITS_OF_MEASURE:
        return 1.0
    if not effect.HAS_DIFFERENCE:
        return 0.0
    step = 1e-6 * max(float(np.abs(x).max()), float(np.abs(y).max()), 1e-300)
    ends = [effect.compute(x + sign * step, y, ddof, keys) for sign in (1, -1)]
    if any(isinstance(end, str) for end in ends):
        return 0.0
    above, below = (float(end[0]) for end in ends)
    return (above - below) / (2 * step)
