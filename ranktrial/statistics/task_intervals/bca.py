"""The bias-corrected and accelerated bootstrap (BCa); reads and writes nothing.

Efron (1987), Better Bootstrap Confidence Intervals, JASA 82(397), 171-185; Efron and Tibshirani (1993), chapter 14. The
conventions are those of scipy.stats.bootstrap: equal values count half, quantiles are interpolated linearly.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

from ranktrial.statistics.effects import EffectType
from ranktrial.statistics.task_intervals import Resampling, Sample, TaskInterval
from ranktrial.statistics.task_intervals._resampling import least_level, levels_at, resampled, without_each_unit

NAME = "bca"
DESCRIPTION = "of the bias-corrected and accelerated bootstrap"
LABEL = "BCa bootstrap"
P_VALUE = "effect against 0 by the BCa bootstrap"
Keys = Resampling
HOLDS_SEEDS = False


def fits(effect: EffectType) -> bool:
    """Any effect: it needs no variance, and is invariant to the scale."""
    return True


def interval(sample: Sample) -> TaskInterval | str:
    """The interval from resamples and from the sample without each of its units."""
    resamples, jackknife = resampled(sample), without_each_unit(sample)
    if isinstance(resamples, str):
        return resamples
    return jackknife if isinstance(jackknife, str) else from_resamples(sample, resamples[:, 0], jackknife)


def from_resamples(sample: Sample, estimates: np.ndarray, jackknife: np.ndarray) -> TaskInterval | str:
    """The quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))) of the estimates, z = z(alpha/2) and z(1 - alpha/2).

    z0 = Phi^-1(share of estimates below that of the sample); a = sum U^3 / (6 (sum U^2)^1.5), U = mean of the jackknife
    minus each of its values. p is the alpha at which an end of the interval is 0, at least that of the most extreme
    resample. There is no interval where an end is beyond the resamples, or a is so large that the ends change places.
    """
    share = _share_below(estimates, sample.estimate)
    if not 0 < share < 1:
        return "all its resamples lie on one side of the effect"
    bias = float(scipy.special.ndtri(share))
    distances = jackknife.mean() - jackknife
    acceleration = float((distances**3).sum() / (6 * (distances**2).sum() ** 1.5))
    ends = bias + scipy.special.ndtri([sample.alpha / 2, 1 - sample.alpha / 2])
    if (acceleration * ends >= 1).any():
        return "its differences are too skewed"
    levels, least = scipy.special.ndtr(bias + ends / (1 - acceleration * ends)), least_level(len(estimates))
    if levels[0] < least or levels[1] > 1 - least:
        return f"an end at {sample.alpha:g} is beyond its {len(estimates)} resamples"
    low, high = np.quantile(estimates, levels)
    p = max(_p_value(estimates, bias, acceleration), 2 * least)
    return TaskInterval(NAME, float(low), float(high), p, math.log10(p))


def _p_value(estimates: np.ndarray, bias: float, acceleration: float) -> float:
    """2 Phi(z) of the z at which the lower end is 0, or 2 Phi(-z) for the upper one; 1 if no interval excludes 0."""
    ordered, least = np.sort(estimates), least_level(len(estimates))
    of_zero = np.clip(levels_at(0.0, ordered, np.linspace(0, 1, len(ordered))), least, 1 - least)
    distances = scipy.special.ndtri(of_zero) - bias
    scales = 1 + acceleration * distances  # not above 0: no end is ever as far out
    lowest, highest = (
        distance / scale - bias if scale > 0 else math.copysign(math.inf, distance)
        for distance, scale in zip(distances.tolist(), scales.tolist(), strict=True)
    )
    if lowest <= 0 <= highest:
        return 1.0
    return 2 * float(scipy.special.ndtr(highest if highest < 0 else -lowest))


def _share_below(estimates: np.ndarray, value: float) -> float:
    """The share of estimates below a value; those equal to it count half."""
    return float(((estimates < value).sum() + (estimates <= value).sum()) / (2 * len(estimates)))
