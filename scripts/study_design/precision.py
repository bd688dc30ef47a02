"""How precise an estimate with this variance is: power, the smallest detectable effect, the expected interval.

Reads and writes nothing. An estimate Y of an effect has a variance V that the experiment estimates with df degrees of
freedom, and Y / sqrt(V estimated) is held against Student's t. For a true effect delta this is noncentral t with
noncentrality delta / sqrt(V) (Cohen 1988, Statistical Power Analysis, chapter 2; R's power.t.test(strict = TRUE)); with
infinite df it is normal (Hedges and Pigott 2001, Psychological Methods 6(3), 203-217). Where V is a sum of parts that
are estimated independently, df is that of Satterthwaite (1946, Biometrics Bulletin 2(6), 110-114).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from scipy import optimize, special, stats


class Part(NamedTuple):
    """A part of an estimate's variance, and the degrees of freedom with which it is estimated (inf: it is known)."""

    variance: float
    df: float


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
    df = satterthwaite(parts)
    se = math.sqrt(variance)
    return Precision(variance, df, noncentrality(df, alpha, power) * se, expected_half_width(variance, df, alpha))


def satterthwaite(parts: Sequence[Part]) -> float:
    """V^2 / sum V_p^2 / df_p, the degrees of freedom of a sum of independent estimates of variances."""
    total = math.fsum(part.variance for part in parts)
    spread = math.fsum((part.variance / total) ** 2 / part.df for part in parts) if total else 0.0
    return 1 / spread if spread else math.inf


def power_of(effect: float, variance: float, df: float, alpha: float) -> float:
    """The probability that a two-sided test at `alpha` rejects an effect of 0, in either direction."""
    return _power(abs(effect) / math.sqrt(variance), df, alpha)


@cache
def noncentrality(df: float, alpha: float, power: float) -> float:
    """delta / sqrt(V) at which the test has this power, which is above alpha."""
    high = 1.0
    while _power(high, df, alpha) < power:
        high *= 2
    return float(optimize.brentq(lambda ncp: _power(ncp, df, alpha) - power, 0.0, high, xtol=1e-11))


def expected_half_width(variance: float, df: float, alpha: float) -> float:
    """The mean of t(df; 1 - alpha/2) sqrt(V estimated), as Sakai (2016), Information Retrieval 19(3), takes it.

    The mean of an estimated standard deviation is sqrt(2/df) gamma((df + 1)/2) / gamma(df/2) of the true one.
    """
    if math.isinf(df):
        return _critical(df, alpha) * math.sqrt(variance)
    shrunk = math.sqrt(2 / df) * math.exp(special.gammaln((df + 1) / 2) - special.gammaln(df / 2))
    return _critical(df, alpha) * shrunk * math.sqrt(variance)


def _critical(df: float, alpha: float) -> float:
    return float(-special.ndtri(alpha / 2) if math.isinf(df) else -special.stdtrit(df, alpha / 2))


def _power(ncp: float, df: float, alpha: float) -> float:
    critical = _critical(df, alpha)
    if math.isinf(df):
        return float(special.ndtr(ncp - critical) + special.ndtr(-ncp - critical))
    return float(stats.nct.sf(critical, df, (ncp, -ncp)).sum())  # special.nctdtr is nan for some, such as (1, 8, 12.7)
