"""The scale of a measure's values: 1 for retrieval measures, 100 for percentages; reads and writes nothing.

The prior of the variance between tasks is on the scale of the measure, so it is scaled accordingly; the intervals of
means and differences end where these do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

ROUNDING = 1e-9  # tolerance at a power of ten
PERCENT = 100.0
UP_TO_1 = frozenset({  # by their names in ir-measures; or 100, for percentages
    "AP", "AP_IA", "Accuracy", "BPM", "BPref", "Bpref", "Compat", "ERR", "ERR_IA", "INSQ", "INST", "IPrec", "Judged",
    "NERR8", "NERR9", "NERR10", "NERR11", "NRBP", "P", "P_IA", "R", "RBP", "RR", "Rprec", "SDCG", "SetAP", "SetF",
    "SetP", "SetR", "StRecall", "Success", "alpha_nDCG", "infAP", "nDCG", "nERR_IA", "nNRBP",
})  # fmt: skip
OF_SCORES_UP_TO_1 = frozenset({  # of external scores, in any case
    "acc", "acc_norm", "accuracy", "auc", "bleu", "chrf", "em", "exact_match", "f1", "map", "meteor", "mrr", "ndcg",
    "precision", "recall", "rouge",
})  # fmt: skip
FROM_MINUS_1 = frozenset({"pmrr", "mcc", "matthews", "pearson", "spearman", "kendall"})  # in any case


def measure_scale(values: Iterable[np.ndarray]) -> float:
    """1 if no absolute value exceeds 1, else the lowest power of ten that none exceeds."""
    largest = max((float(np.abs(some).max()) for some in values if some.size), default=0.0)
    return 10.0 ** math.ceil(math.log10(largest) - ROUNDING) if largest > 1 + ROUNDING else 1.0


class Range(NamedTuple):
    """The lowest and the highest value of a measure."""

    low: float
    high: float

    @property
    def reach(self) -> float:
        """The largest difference of two values."""
        return self.high - self.low

    def cut(self, interval: tuple[float, float]) -> tuple[float, float]:
        """An interval of means, which ends at these values."""
        low, high = (min(max(end, self.low), self.high) for end in interval)
        return low, high


def range_of(measure: str, values: Iterable[np.ndarray]) -> Range | None:
    """The range of a measure on the scale of these values; None if it is unknown, or if a value is beyond it.

    Values of a measure that cannot be negative are differences of it if one is.
    """
    name = re.match(r"\w*", measure)
    found = "" if name is None else name.group()
    signed = found.lower() in FROM_MINUS_1
    if not (signed or found in UP_TO_1 or found.lower() in OF_SCORES_UP_TO_1):
        return None
    given = [some for some in values if some.size]
    largest = max((float(np.nanmax(np.abs(some))) for some in given), default=0.0)
    if largest > PERCENT + ROUNDING:
        return None
    high = 1.0 if largest <= 1 + ROUNDING else PERCENT
    signed = signed or any(float(np.nanmin(some)) < 0 for some in given)
    return Range(-high if signed else 0.0, high)


def reach_of(measure: str, values: Iterable[np.ndarray]) -> float | None:
    """The largest difference that a measure allows, on the scale of these values; None if it is unknown."""
    found = range_of(measure, values)
    return found.reach if found else None


def within_reach(value: float, reach: float | None) -> float:
    """A difference, cut at the largest one that the measure allows, if that is known."""
    return value if reach is None else min(max(value, -reach), reach)
