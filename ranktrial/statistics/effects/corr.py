"""CORR: the correlation of the treatment with a gold standard, the control; combined as Fisher's z, reported as r.

Borenstein, Hedges, Higgins and Rothstein (2009), Introduction to Meta-Analysis, chapter 6; Sertkan et al. (2023),
equations 7 and 8. A gold standard need not be on the scale of a system: differences have no meaning. Reads and writes
nothing.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.paired import constant_rows, constant_system, directions, directions_rows, queries

NAME = "CORR"
DESCRIPTION = "correlation with control, the gold standard"

HAS_DIFFERENCE = False
SHARED_SCALE = False
IN_UNITS_OF_MEASURE = False
TAU_SCALE = 0.5

LABEL = "Correlation"
SHORT_LABEL = "Correlation"
AXIS = "Correlation ({measure})"
QUESTION = "How well does {treatment} agree with {control}?"
ANSWERS = ("correlated", "opposed")
FINDING = "the mean correlation of {treatment} with {control} is {number}"
NOUN = "correlation"
STATISTIC = "Fisher's z"


def compute(x: np.ndarray, y: np.ndarray, ddof: int, keys: object) -> tuple[float, float] | str:
    """Fisher's z of r and V_z, or why there is none; `ddof` cancels out of r."""
    n = len(x)
    if n <= 3:
        return f"{queries(n)}: the variance of Fisher's z needs at least 4"
    if reason := constant_system(x, y):
        return reason
    u, v, rounding = directions(x, y)
    minus, plus = np.linalg.norm(u - v), np.linalg.norm(u + v)  # sqrt(2 (1 - r)) and sqrt(2 (1 + r))
    if min(minus, plus) <= rounding:
        return f"the two systems are perfectly correlated (r = {1 if minus < plus else -1})"
    return math.log(plus / minus), 1 / (n - 3)


def compute_rows(x: np.ndarray, y: np.ndarray, ddof: int, keys: object) -> np.ndarray:
    """The same of many samples."""
    n = x.shape[1]
    if n <= 3:
        return np.full((len(x), 2), np.nan)
    u, v, rounding = directions_rows(x, y)
    minus, plus = np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
    undefined = constant_rows(x, x) | constant_rows(y, y) | (np.minimum(minus, plus) <= rounding)
    z = np.where(undefined, np.nan, np.log(plus / minus))
    return np.column_stack([z, np.where(undefined, np.nan, 1 / (n - 3))])


def caution(x: np.ndarray, y: np.ndarray) -> str | None:
    """Nothing."""
    return None


def reported(value: float) -> float:
    """r = tanh(z)."""
    return math.tanh(value)


def combined(value: float) -> float:
    """Fisher's z = atanh(r)."""
    return math.atanh(value)


def caption(measure: str, keys: object) -> str:
    """What a square of the forest plot is."""
    return "correlation"
