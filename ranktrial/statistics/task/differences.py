"""The difference of two systems on one task with its t interval and paired t-test; reads and writes nothing.

A system with several seeds has one value per query, the mean over its seeds, so that results are conditional on these
checkpoints.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.least_squares.satterthwaite import Part
from ranktrial.statistics.meta_analysis.measure_scale import within_reach
from ranktrial.statistics.task.paired import mean_difference
from ranktrial.statistics.task.significance import t_test_of


@dataclass(frozen=True)
class Difference:
    """Treatment minus control, its (1 - alpha) t interval and the two-sided paired t-test.

    All except the difference are None if there is no test: one query, or the same difference on every query.
    """

    difference: float
    ci_low: float | None
    ci_high: float | None
    t: float | None
    df: int | None
    p_value: float | None


def difference_of(treatment: np.ndarray, control: np.ndarray, alpha: float, reach: float | None) -> Difference:
    """The difference of two vectors with one value per query, in the same order of queries.

    The interval ends at `reach`, the largest difference that the measure allows, if it is known.
    """
    result = mean_difference(treatment, control, ddof=1)
    if isinstance(result, str):
        return Difference(float(np.mean(treatment - control)), *(None,) * 5)
    mean, variance = float(result[0]), float(result[1])
    df = len(treatment) - 1
    half = float(-scipy.special.stdtrit(df, alpha / 2)) * math.sqrt(variance)
    test = t_test_of(mean, [Part(variance, df)])
    low, high = (within_reach(end, reach) for end in (mean - half, mean + half))
    return Difference(mean, low, high, test.t, df, test.p_value)
