"""How precise an estimate with this variance is: power, the smallest detectable effect, the expected interval.

Reads and writes nothing. An estimate Y of an effect has a variance V that the experiment estimates with df degrees of
freedom, and Y / sqrt(V estimated) is held against Student's t. For a true effect delta this is noncentral t with
noncentrality delta / sqrt(V) (Cohen 1988, Statistical Power Analysis, chapter 2; R's power.t.test(strict = TRUE)); with
infinite df it is normal (Hedges and Pigott 2001, Psychological Methods 6(3), 203-217). Where V is a sum of parts that
are estimated independently, df is that of Satterthwaite (1946, Biometrics Bulletin 2(6), 110-114). An estimate of V
that is never taken for less than a floor, as in the interval of Knapp and Hartung with max(1, q), is integrated over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

NODES, WEIGHTS = np.polynomial.legendre.leggauss(100)  # of a mean over the estimates of a variance: 12 digits and more


class Part(NamedTuple):
    """A part of an estimate's variance, and the degrees of freedom with which it is estimated (inf: it is known).

    However small its estimate is, at least `floor` of the part is counted.
    """

    variance: float
    df: float
    floor: float = 0.0


class Precision(NamedTuple):
    """What an estimate can show: the effect that is detected with the power asked for, and its interval's half-width.

    `variance` and `df` are those of the estimate.
    """

    variance: float
    df: float
    detectable: float
    half_width: float


def precision(parts: Sequence[Part], alpha: float, power: float) -> Precision:
    """The precision of an estimate whose variance is the sum of `parts`; tests and intervals are two-sided."""
    variance = math.fsum(part.variance for part in parts)
    df, se = satterthwaite(parts), math.sqrt(variance)
    floor = math.fsum(part.floor for part in parts) / variance
    half_width = expected_half_width(variance, df, alpha, floor)
    return Precision(variance, df, noncentrality(df, alpha, power, floor) * se, half_width)


def satterthwaite(parts: Sequence[Part]) -> float:
    """V^2 / sum V_p^2 / df_p, the degrees of freedom of a sum of independent estimates of variances."""
    total = math.fsum(part.variance for part in parts)
    spread = math.fsum((part.variance / total) ** 2 / part.df for part in parts) if total else 0.0
    return 1 / spread if spread else math.inf


def power_of(effect: float, variance: float, df: float, alpha: float, floor: float = 0.0) -> float:
    """The probability that a two-sided test at `alpha` rejects an effect of 0, in either direction.

    `floor` is the share of the variance below which its estimate is not taken.
    """
    return _power(abs(effect) / math.sqrt(variance), df, alpha, floor)


@cache
def noncentrality(df: float, alpha: float, power: float, floor: float = 0.0) -> float:
    """delta / sqrt(V) at which the test has this power, which is above alpha."""
    low, high = 0.0, 1.0
    while _power(high, df, alpha, floor) < power:
        low, high = high, 2 * high
    return float(optimize.brentq(lambda ncp: _power(ncp, df, alpha, floor) - power, low, high, xtol=1e-11))


def expected_half_width(variance: float, df: float, alpha: float, floor: float = 0.0) -> float:
    """The mean of t(df; 1 - alpha/2) sqrt(V estimated), as Sakai (2016), Information Retrieval 19(3), takes it.

    The mean of an estimated standard deviation is sqrt(2/df) gamma((df + 1)/2) / gamma(df/2) of the true one; with a
    floor, that of the estimates above it, and the floor for the others.
    """
    if math.isinf(df):
        return _critical(df, alpha) * math.sqrt(variance)
    shrunk = math.sqrt(2 / df) * math.exp(special.gammaln((df + 1) / 2) - special.gammaln(df / 2))
    above, below = special.gammaincc((df + 1) / 2, df * floor / 2), special.gammainc(df / 2, df * floor / 2)
    return float(_critical(df, alpha) * math.sqrt(variance) * (shrunk * above + math.sqrt(floor) * below))


def _critical(df: float, alpha: float) -> float:
    return float(-special.ndtri(alpha / 2) if math.isinf(df) else -special.stdtrit(df, alpha / 2))


def _power(ncp: float, df: float, alpha: float, floor: float) -> float:
    critical = _critical(df, alpha)
    if math.isinf(df):
        return float(special.ndtr(ncp - critical) + special.ndtr(-ncp - critical))
    if not floor:
        return float(stats.nct.sf(critical, df, (ncp, -ncp)).sum())  # special.nctdtr is nan for (1, 8, 12.7)
    s, weights = _estimates(df, floor)
    return float((weights * (special.ndtr(ncp - critical * s) + special.ndtr(-ncp - critical * s))).sum())


@cache
def _estimates(df: float, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of s = sqrt(max(floor, chi2(df) / df)), with the weights by which a mean over its distribution is a sum.

    Gauss and Legendre's nodes above the floor, where the density of s, 2 (df/2)^(df/2) s^(df-1) exp(-df s^2/2) /
    gamma(df/2), is smooth; the floor itself has the weight of all that is below.
    """
    least = math.sqrt(floor)
    low, high = (math.sqrt(special.gammainccinv(df / 2, share) * 2 / df) for share in (1 - 1e-15, 1e-16))
    low = max(low, least)
    high = max(high, low)
    s = low + (high - low) * (NODES + 1) / 2
    log_density = (
        math.log(2) + df / 2 * math.log(df / 2) - special.gammaln(df / 2) + (df - 1) * np.log(s) - df * s**2 / 2
    )
    density = np.exp(log_density) * WEIGHTS * (high - low) / 2
    return np.append(s, least), np.append(density, special.gammainc(df / 2, df * floor / 2))
