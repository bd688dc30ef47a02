"""The scale of a measure's values: 1 for retrieval measures, 100 for percentages; reads and writes nothing.

The prior of the variance between tasks is on the scale of the measure, so it is scaled accordingly; an interval of
differences is cut at their largest possible values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

ROUNDING = 1e-9  # tolerance at a power of ten
UP_TO_1 = frozenset({
    "AP", "Accuracy", "BPref", "Bpref", "Compat", "ERR", "IPrec", "Judged", "P", "R", "RBP", "RR", "Rprec", "SetAP",
    "SetF", "SetP", "SetR", "Success", "infAP", "nDCG", "nERR", "alpha_nDCG",
})  # fmt: skip


def measure_scale(values: Iterable[np.ndarray]) -> float:
    """1 if no absolute value exceeds 1, else the lowest power of ten that none exceeds."""
    largest = max((float(np.abs(some).max()) for some in values if some.size), default=0.0)
    return 10.0 ** math.ceil(math.log10(largest) - ROUNDING) if largest > 1 + ROUNDING else 1.0


def within_range(interval: tuple[float, float], measure: str, scale: float) -> tuple[float, float]:
    """An interval of differences in a measure, cut at their possible range; unchanged if the range is unknown."""
    name = re.match(r"[A-Za-z_]*", measure)
    if scale > 1 or not name or name.group() not in UP_TO_1:
        return interval
    return max(interval[0], -1.0), min(interval[1], 1.0)
