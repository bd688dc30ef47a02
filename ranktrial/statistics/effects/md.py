"""MD: the mean difference, on the scale of the measure.

Borenstein, Hedges, Higgins and Rothstein (2009), Introduction to Meta-Analysis, chapter 4, for paired designs; Sertkan
et al. (2023), equation 1. Reads and writes nothing.
"""

from __future__ import annotations

import numpy as np

from ranktrial.statistics.paired import mean_difference, mean_differences

NAME = "MD"
DESCRIPTION = "mean difference"

HAS_DIFFERENCE = True
SHARED_SCALE = True
IN_UNITS_OF_MEASURE = True
TAU_SCALE = 0.1

LABEL = "Mean difference"
SHORT_LABEL = "Mean diff."
AXIS = "Mean difference in {measure}"
QUESTION = "Does {treatment} beat {control} in {measure}?"
ANSWERS = ("yes, higher", "no, lower")
FINDING = "mean {measure} of {treatment} {relation} that of {control} by {size}"
NOUN = "difference"
STATISTIC = "effect / standard error"


def compute(x: np.ndarray, y: np.ndarray, ddof: int, keys: object) -> tuple[float, float] | str:
    """D and V_D, or why there is none."""
    return mean_difference(x, y, ddof)


def compute_rows(x: np.ndarray, y: np.ndarray, ddof: int, keys: object) -> np.ndarray:
    """The same of many samples."""
    return np.column_stack(mean_differences(x, y, ddof))


def caution(x: np.ndarray, y: np.ndarray) -> str | None:
    """Nothing."""
    return None


def reported(value: float) -> float:
    """The difference itself."""
    return float(value)


def caption(measure: str, keys: object) -> str:
    """What a square of the forest plot is."""
    return f"mean difference in {measure}"
