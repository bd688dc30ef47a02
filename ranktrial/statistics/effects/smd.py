"""SMD: the standardised mean difference, Cohen's d or Hedges' g, for tasks whose measures differ.

Borenstein, Hedges, Higgins and Rothstein (2009), Introduction to Meta-Analysis, 4.22 to 4.28, for paired designs;
Sertkan et al. (2023), equations 2 to 5. Reads and writes nothing.
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.paired import (
    Hedges,
    directions,
    directions_rows,
    hedges_correction,
    standardisable,
    standardisable_rows,
)

NAME = "SMD"
DESCRIPTION = "standardised mean difference"
Keys = Hedges

CORRELATED = 0.9  # r above which the coverage of the interval is too low (docs/statistics.md)

HAS_DIFFERENCE = True
SHARED_SCALE = True
IN_UNITS_OF_MEASURE = False
TAU_SCALE = 0.5

LABEL = "Standardised mean difference"
SHORT_LABEL = "Std. mean diff."
AXIS = "Standardised mean difference in {measure}"
QUESTION = "Does {treatment} beat {control} in {measure}?"
ANSWERS = ("yes, higher", "no, lower")
FINDING = "mean {measure} of {treatment} {relation} that of {control} by {size} standard deviations"
NOUN = "standardised difference"
STATISTIC = "effect / standard error"


def compute(x: np.ndarray, y: np.ndarray, ddof: int, keys: Hedges) -> tuple[float, float] | str:
    """d and V_d, or Hedges' g and V_g, or a text why undefined.

    S_within = sd(x - y) / sqrt(2 (1 - r)), so it is undefined if r = 1 or r is undefined.
    """
    n = len(x)
    difference = standardisable(x, y, ddof, keys.hedges)
    if isinstance(difference, str):
        return difference
    u, v, rounding = directions(x, y)
    twice_1_minus_r = ((u - v) ** 2).sum()  # precise if r is close to 1, unlike 2 (1 - r)
    if math.sqrt(twice_1_minus_r) <= rounding:
        return "the two systems are perfectly correlated (r = 1)"
    mean, variance = difference
    d = mean / math.sqrt(variance * n / twice_1_minus_r)
    v_d = (1 / n + d**2 / (2 * n)) * twice_1_minus_r
    j = hedges_correction(n) if keys.hedges else 1.0
    return j * d, j**2 * v_d


def compute_rows(x: np.ndarray, y: np.ndarray, ddof: int, keys: Hedges) -> np.ndarray:
    """The same of many samples."""
    n = x.shape[1]
    mean, variance = standardisable_rows(x, y, ddof, keys.hedges)
    u, v, rounding = directions_rows(x, y)
    twice_1_minus_r = ((u - v) ** 2).sum(axis=1)
    mean = np.where(np.sqrt(twice_1_minus_r) <= rounding, np.nan, mean)
    d = mean / np.sqrt(variance * n / twice_1_minus_r)
    j = hedges_correction(n) if keys.hedges else 1.0
    return np.column_stack([j * d, j**2 * (1 / n + d**2 / (2 * n)) * twice_1_minus_r])


def caution(x: np.ndarray, y: np.ndarray) -> str | None:
    """A caution if r is near 1: the variance, which treats r as known, is then a fraction of the true one."""
    r = float(np.corrcoef(x, y)[0, 1])
    if r <= CORRELATED:
        return None
    return f"r is {r:.3f}: above {CORRELATED} the variance of the SMD is too small; effect d_av fits"


def reported(value: float) -> float:
    """The difference itself."""
    return float(value)


def caption(measure: str, keys: Hedges) -> str:
    """What a square of the forest plot is: g, which is corrected for small samples, or d."""
    standardised = "Hedges' g" if keys.hedges else "d, not corrected for small samples"
    return f"standardised mean difference ({standardised})"
