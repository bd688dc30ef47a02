"""The precision of an estimate with a given variance: power, smallest detectable effect, expected interval.

Reads and writes nothing. An estimate Y of an effect has a variance V, the sum of parts that the experiment estimates
independently, each with its own degrees of freedom. Y over the root of the estimated V is compared with Student's t
with Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2(6), 110-114), which are also estimated:

    df = V^2 / sum V_p^2 / df_p, of the estimates V_p, which are V_p chi2(df_p) / df_p.

Power and half-width are means over the joint distribution of these estimates. If a part has few degrees of freedom,
they differ from those at the true variances: the estimated degrees of freedom vary with the estimate of that part. With
a single part, the degrees of freedom are known, and power is that of noncentral t (Cohen 1988, Statistical Power
Analysis, chapter 2; R's power.t.test(strict = TRUE)); with a known variance, it is normal (Hedges and Pigott 2001,
Psychological Methods 6(3), 203-217).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy  # its parts are loaded when they are first used

from ranktrial.statistics.quadrature import legendre

NODES = {1: 200, 2: 40, 3: 20}  # per part, by the number of estimated parts
NEGLIGIBLE = 1e-16  # probability of estimates beyond the first and last node


class Part(NamedTuple):
    """A part of an estimate's variance, and the degrees of freedom with which it is estimated (inf: it is known).

    If its own interval would be narrower than the normal one of the variance `floor`, the latter is used, as known.
    """

    variance: float
    df: float
    floor: float = 0.0


class Precision(NamedTuple):
    """The precision of an estimate: the effect detected with the requested power, and the interval's half-width.

    `variance` is that of the estimate; `df` are Satterthwaite's at the true variances.
    """

    variance: float
    df: float
    detectable: float
    half_width: float


def precision(parts: Sequence[Part], alpha: float, power: float) -> Precision:
    """The precision of an estimate whose variance is the sum of `parts`; tests and intervals are two-sided.

    `power` is above alpha. The half-width is the mean of t(df; 1 - alpha/2) sqrt(V), both estimated, which for one part
    is that of Sakai (2016), Information Retrieval 19(3).
    """
    se = math.sqrt(math.fsum(part.variance for part in parts))
    half_widths, weights = _half_widths(parts, alpha)

    def missing(effect: float) -> float:
        return _rejected(effect, se, half_widths, weights) - power

    low, high = 0.0, se
    while missing(high) < 0:
        low, high = high, 2 * high
    detectable = float(scipy.optimize.brentq(missing, low, high, xtol=1e-11 * se))
    return Precision(se**2, satterthwaite(parts), detectable, float(weights @ half_widths))


def power_of(effect: float, parts: Sequence[Part], alpha: float) -> float:
    """The probability that a two-sided test at `alpha` rejects an effect of 0, in either direction."""
    se = math.sqrt(math.fsum(part.variance for part in parts))
    return _rejected(effect, se, *_half_widths(parts, alpha))


def satterthwaite(parts: Sequence[Part]) -> float:
    """V^2 / sum V_p^2 / df_p, the degrees of freedom of a sum of independent estimates of variances."""
    total = math.fsum(part.variance for part in parts)
    spread = math.fsum((part.variance / total) ** 2 / part.df for part in parts) if total else 0.0
    return 1 / spread if spread else math.inf


def _rejected(effect: float, se: float, half_widths: np.ndarray, weights: np.ndarray) -> float:
    """The probability that an estimate with this standard error exceeds its half-width in absolute value."""
    outside = scipy.special.ndtr((effect - half_widths) / se) + scipy.special.ndtr((-effect - half_widths) / se)
    return float(weights @ outside)


def _half_widths(parts: Sequence[Part], alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """The half-widths of intervals over the estimates of the parts, with quadrature weights."""
    estimated = [part for part in parts if part.variance and math.isfinite(part.df)]
    known = math.fsum(part.variance for part in parts if math.isinf(part.df))
    variance, uncertainty, weights = np.array([known]), np.zeros(1), np.ones(1)
    nodes = NODES.get(len(estimated), min(NODES.values()))
    for part in estimated:
        floor = part.floor / part.variance
        quantiles = scipy.special.ndtri(alpha / 2) / scipy.special.stdtrit(part.df, alpha / 2)
        squares, shares = _estimates(part.df, floor * float(quantiles) ** 2, nodes)
        degrees = np.full(len(squares), part.df)
        if floor:
            squares, degrees = np.append(squares[:-1], floor), np.append(degrees[:-1], math.inf)
        values = part.variance * squares
        variance = np.add.outer(variance, values).ravel()
        uncertainty = np.add.outer(uncertainty, values**2 / degrees).ravel()
        weights = np.multiply.outer(weights, shares).ravel()
    if not estimated:
        return -scipy.special.ndtri(alpha / 2) * np.sqrt(variance), weights
    with np.errstate(divide="ignore"):  # of no uncertainty at all the degrees are infinite, and t is normal
        degrees = variance**2 / uncertainty
    return -scipy.special.stdtrit(degrees, alpha / 2) * np.sqrt(variance), weights


@cache
def _estimates(df: float, floor: float, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of s^2 = max(floor, chi2(df) / df), with the weights by which a mean over its distribution is a sum.

    Gauss and Legendre's nodes above the floor, where the density of s, 2 (df/2)^(df/2) s^(df-1) exp(-df s^2/2) /
    gamma(df/2), is smooth; the floor itself has the weight of all that is below.
    """
    x, weights = legendre(nodes)
    ends = (math.sqrt(scipy.special.gammainccinv(df / 2, share) * 2 / df) for share in (1 - NEGLIGIBLE, NEGLIGIBLE))
    low, high = (max(end, math.sqrt(floor)) for end in ends)
    s = low + (high - low) * (x + 1) / 2
    log_density = (
        math.log(2) + df / 2 * math.log(df / 2) - scipy.special.gammaln(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
    )
    density = np.exp(log_density) * weights * (high - low) / 2
    if not floor:
        return s**2, density
    return np.append(s**2, floor), np.append(density, scipy.special.gammainc(df / 2, df * floor / 2))
