"""The inversion of the randomisation test of a mean difference; reads and writes nothing.

The interval contains each shift that the test does not reject after it is subtracted from all differences. Its level is
exact for any symmetrical distribution of the differences (Garthwaite 1996, Confidence intervals from randomization
tests, Biometrics 52(4), 1387-1393). The test is that of Smucker, Allan and Carterette (2007).
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.significance import sums_with_still
from ranktrial.statistics.task_intervals import Sample, TaskInterval

NAME = "randomisation"
DESCRIPTION = "all differences that the randomisation test does not reject (MD)"
LABEL = "randomisation"
P_VALUE = "paired randomisation test"
HOLDS_SEEDS = False
ROUNDING = 1e-12


def fits(effect: EffectType) -> bool:
    """A mean difference: the differences of queries are shifted."""
    return effect.IN_UNITS_OF_MEASURE


def interval(sample: Sample) -> TaskInterval | str:
    """The mean difference minus and plus the distance at which the test with these flips begins to reject.

    A flip s is as extreme as the data shifted by D - u (u >= 0) if |r + b u| >= n u, with r = sum s (d - D) and
    b = sum s: if u <= r / (n - b) for r > 0, or u <= -r / (n + b) for r < 0. For D + u the signs of r are exchanged.
    So the p-value decreases with the distance u, and the end is an order statistic of these limits.
    """
    difference = sample.x - sample.y
    mean, n = float(difference.mean()), len(difference)
    centred = np.bincount(sample.units, difference - mean)
    sizes = np.bincount(sample.units).astype(float)
    still = np.bincount(sample.units, sample.x) == np.bincount(sample.units, sample.y)
    flips = sums_with_still(np.stack([centred, sizes]), still, sample.seed, sample.permutations)
    (r, b), drawn = flips.sums, 0 if flips.exact else 1
    r = np.where(np.abs(r) <= 8 * np.finfo(float).eps * np.abs(centred).sum(), 0.0, r)
    with np.errstate(divide="ignore", invalid="ignore"):
        towards, away = np.abs(r) / (n - b), np.abs(r) / (n + b)
    towards, away = (np.where(np.abs(b) > n - 0.5, np.inf, limits) for limits in (towards, away))
    below, above = np.where(r > 0, towards, away), np.where(r > 0, away, towards)
    rejected = _rejected(sample.alpha, len(r), drawn)
    end = len(r) - 1 - rejected
    below, above = (_snapped(limits, abs(mean), np.abs(difference).mean()) for limits in (below, above))
    ends = [float(np.partition(limits, end)[end]) if rejected >= 0 else math.inf for limits in (below, above)]
    if not np.isfinite(ends).all():
        return f"{len(r)} flips cannot reject at {sample.alpha:g}"
    beyond = (below if mean > 0 else above) >= abs(mean)
    p = float((beyond.sum() + drawn) / (len(r) + drawn))
    return TaskInterval(NAME, mean - ends[0], mean + ends[1], p, math.log10(p))


def _rejected(alpha: float, flips: int, drawn: int) -> int:
    """The largest number of limits beyond an end with which p is still below alpha; -1 if there is none."""
    rejected = math.ceil(alpha * (flips + drawn)) - drawn
    while rejected >= 0 and (rejected + drawn) / (flips + drawn) >= alpha:
        rejected -= 1
    return rejected


def _snapped(limits: np.ndarray, size: float, scale: float) -> np.ndarray:
    """The limits; one that differs by rounding (of differences of this scale) from the size of the mean, as a flip as
    extreme as the data, is equal to it, so that the end of the interval is 0.
    """
    near: np.ndarray = np.where(np.abs(limits - size) <= ROUNDING * scale, size, limits)
    return near
