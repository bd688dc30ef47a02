"""The studentised bootstrap, for measures that are skewed or bounded; reads and writes nothing.

Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 12; Davison and Hinkley (1997), Bootstrap Methods
and their Application, equation 5.6: R's boot.ci(type = "stud").
"""

from __future__ import annotations

import math

import numpy as np

from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.task_intervals import Resampling, Sample, TaskInterval
from ranktrial.statistics.task_intervals._resampling import cannot_reach, levels_at, resampled

NAME = "bootstrap-t"
DESCRIPTION = "of the studentised bootstrap"
LABEL = "bootstrap t"
P_VALUE = "{statistic} against its studentised bootstrap"
Keys = Resampling
HOLDS_SEEDS = False


def fits(effect: EffectType) -> bool:
    """A difference: the variance of Fisher's z is the same in all resamples."""
    return effect.HAS_DIFFERENCE


def interval(sample: Sample) -> TaskInterval | str:
    """The interval from resamples of the sample's units."""
    resamples = resampled(sample, with_variance=True)
    return resamples if isinstance(resamples, str) else from_resamples(sample, *resamples.T)


def from_resamples(sample: Sample, estimates: np.ndarray, variances: np.ndarray) -> TaskInterval | str:
    """estimate - t*(1 - alpha/2) se to estimate - t*(alpha/2) se, t* = (estimate* - estimate) / se* of a resample.

    t*(q) is the order statistic (B + 1) q, interpolated linearly. p is twice the level of the observed t from the
    nearer end, by the same interpolation: the alpha at which an end of the interval is 0.
    """
    if why := cannot_reach(len(estimates), sample.alpha):
        return why
    se = math.sqrt(sample.variance)
    pivots = (estimates - sample.estimate) / np.sqrt(variances)
    low, high = np.quantile(pivots, [sample.alpha / 2, 1 - sample.alpha / 2], method="weibull")
    count = len(pivots)
    lowest, highest = levels_at(sample.estimate / se, np.sort(pivots), np.arange(1, count + 1) / (count + 1))
    p = 2 * lowest if highest < 0.5 else 2 * (1 - highest) if lowest > 0.5 else 1.0
    return TaskInterval(NAME, float(sample.estimate - high * se), float(sample.estimate - low * se), p, math.log10(p))
