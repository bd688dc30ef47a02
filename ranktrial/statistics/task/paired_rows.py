"""The common parts of effects of many paired samples of one size: paired.py for all rows at once.

Reads and writes nothing. Bootstrap intervals compute an effect thousands of times. `x` and `y` have shape (rows, n); a
row with an undefined effect is NaN.
"""

from __future__ import annotations

import math

import numpy as np

_EPS = np.finfo(float).eps


def mean_differences(x: np.ndarray, y: np.ndarray, ddof: int) -> tuple[np.ndarray, np.ndarray]:
    """D and V_D of each row."""
    n = x.shape[1]
    if n < 2:
        return np.full(len(x), np.nan), np.full(len(x), np.nan)
    difference = x - y
    undefined = constant_rows(difference, x, y)
    means, variances = difference.mean(axis=1), difference.var(axis=1, ddof=ddof) / n
    return np.where(undefined, np.nan, means), np.where(undefined, np.nan, variances)


def standardisable_rows(x: np.ndarray, y: np.ndarray, ddof: int, hedges: bool) -> tuple[np.ndarray, np.ndarray]:
    """D and V_D of the rows whose difference can be standardised."""
    means, variances = mean_differences(x, y, ddof)
    if hedges and x.shape[1] == 2:
        return means * np.nan, variances * np.nan
    undefined = constant_rows(x, x) | constant_rows(y, y)
    return np.where(undefined, np.nan, means), np.where(undefined, np.nan, variances)


def constant_rows(values: np.ndarray, *parts: np.ndarray) -> np.ndarray:
    """Whether the values of each row differ only by the rounding of the numbers from which they were computed."""
    largest = np.max([np.abs(part).max(axis=1) for part in parts], axis=0)
    found: np.ndarray = np.ptp(values, axis=1) <= 8 * _EPS * largest
    return found


def directions_rows(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both systems of each row centred, with norm 1, and the length that |u - v| may have due to rounding."""
    directions, rounding = [], np.zeros(len(x))
    for values in (x, y):
        centred = values - values.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(centred, axis=1)
        directions.append(centred / norms[:, None])
        rounding += 8 * _EPS * math.sqrt(x.shape[1]) * np.abs(values).max(axis=1) / norms
    return directions[0], directions[1], rounding
