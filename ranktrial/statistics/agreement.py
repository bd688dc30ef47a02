"""Agreement of two assessors, and of the rankings of systems by their judgements; reads and writes nothing.

Cohen (1960), A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20(1), 37-46.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import scipy


def confusion(pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The confusion matrix over all grades of both assessors, in their order."""
    counts = Counter(pairs)
    first, second = (sorted({pair[place] for pair in pairs}) for place in (0, 1))
    return {(one, other): counts[one, other] for one in first for other in second}


def cohens_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """(observed - expected agreement) / (1 - expected agreement); None if the expected agreement is 1."""
    n = len(pairs)
    observed = sum(one == other for one, other in pairs) / n if n else 0.0
    first, second = (Counter(pair[place] for pair in pairs) for place in (0, 1))
    expected = sum(first[grade] * second[grade] for grade in first) / n**2 if n else 1.0
    return (observed - expected) / (1 - expected) if expected < 1 else None


def order_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two rankings of the same systems; None for fewer than two, or if one ranking ties all."""
    if len(first) < 2:
        return None
    tau = float(scipy.stats.kendalltau(first, second).statistic)
    return None if np.isnan(tau) else tau
