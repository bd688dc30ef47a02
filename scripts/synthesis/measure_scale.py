"""How large the values of a measure are: 1 for those of retrieval, 100 for percentages; reads and writes nothing.

A prior of the variance between tasks is stated on the scale of the measure, so it has to grow with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

ROUNDING = 1e-9  # of values that end at a power of ten


def measure_scale(values: Iterable[np.ndarray]) -> float:
    """1 where no value is larger in size than 1, else the lowest power of ten that none exceeds."""
    largest = max((float(np.abs(some).max()) for some in values if some.size), default=0.0)
    return 10.0 ** math.ceil(math.log10(largest) - ROUNDING) if largest > 1 + ROUNDING else 1.0
