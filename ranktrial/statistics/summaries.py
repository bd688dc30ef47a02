"""A summary effect with its interval and p-value, by the normal or by Student's t distribution; and equivalence.

An effect may have several estimates of its variance, none of which its interval may be narrower than: the interval is
then the widest of theirs, and the p-value the largest, whatever alpha, so that p < alpha exactly where the interval
excludes 0.

Equivalence has two one-sided tests against a margin (Schuirmann 1987). Tail probabilities come with their logarithms:
SciPy's t and chi-square tails are 0 (and their logarithms -inf) below about 1e-308, which is easily reached with a
thousand queries; here the logarithm of the tail is then computed directly.

Sums of independent variance estimates have the degrees of freedom of Satterthwaite (1946), An approximate distribution
of estimates of variance components, Biometrics Bulletin 2(6), 110-114: parts v_p, each with df_p degrees of freedom,
sum to V = sum v_p with

    df = V^2 / sum (v_p^2 / df_p).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy


@cache
def legendre(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes on [-1, 1] and their weights, which are shared and therefore cannot be written."""
    places, weights = np.polynomial.legendre.leggauss(nodes)
    places.flags.writeable = weights.flags.writeable = False
    return places, weights


_SMALL = 1e-290  # below this a tail is computed in logarithms; SciPy's own value still has all its digits above
_EPS = sys.float_info.epsilon
_NEARLY_0 = -1e-4  # of log x: the series would have many terms


@dataclass(frozen=True)
class Tail:
    """A tail probability. `p` is at least 2.2e-308 (the smallest normal double, never 0); `log10_p` is exact."""

    p: float
    log10_p: float


def normal_two_sided(z: float) -> Tail:
    """P(|Z| >= |z|) of a standard normal Z."""
    return _with_logarithm(2 * scipy.special.ndtr(-abs(z)), lambda: math.log(2) + scipy.special.log_ndtr(-abs(z)))


def normal_upper(z: float) -> Tail:
    """P(Z >= z) of a standard normal Z."""
    return _with_logarithm(scipy.special.ndtr(-z), lambda: scipy.special.log_ndtr(-z))


def t_two_sided(t: float, df: float) -> Tail:
    """P(|T| >= |t|) of Student's t with `df` degrees of freedom."""
    return _with_logarithm(2 * scipy.special.stdtr(df, -abs(t)), lambda: math.log(2) + _t_log_upper(abs(t), df))


def t_upper(t: float, df: float) -> Tail:
    """P(T >= t) of Student's t with `df` degrees of freedom."""
    return _with_logarithm(scipy.special.stdtr(df, -t), lambda: _t_log_upper(t, df))


def chi2_upper(q: float, df: float) -> Tail:
    """P(X >= q) of a chi-square X with `df` degrees of freedom."""
    return _with_logarithm(scipy.special.gammaincc(df / 2, q / 2), lambda: _log_gammaincc(df / 2, q / 2))


def _with_logarithm(p: float, log_tail: Callable[[], float]) -> Tail:
    log10_p = (math.log(p) if p > _SMALL else float(log_tail())) / math.log(10)
    return Tail(max(float(p), sys.float_info.min), log10_p)


def _t_log_upper(t: float, df: float) -> float:
    """log P(T >= t) far out: half the incomplete beta ratio I_x(df/2, 1/2), x = df/(df + t^2).

    By its power series (DLMF 8.17.8, then 15.2.1 for F(a + b, 1; a + 1; x)), whose terms fall faster than x^j. With
    so many degrees of freedom that x is nearly 1, by the normal tail (Wallace 1959, Annals of Mathematical Statistics).
    """
    a, b = df / 2, 0.5
    log_x = -math.log1p(t * t / df)
    if log_x > _NEARLY_0:
        return float(scipy.special.log_ndtr(-math.sqrt(-df * log_x) * (8 * df + 1) / (8 * df + 3)))
    j = np.arange(math.ceil(math.log(_EPS) / log_x))
    series = 1 + np.cumprod(math.exp(log_x) * (a + b + j) / (a + 1 + j)).sum()
    log_1_minus_x = -math.log1p(df / (t * t))
    log_beta: float = scipy.special.betaln(a, b)
    return a * log_x + b * log_1_minus_x - math.log(2 * a) - log_beta + math.log(series)


def _log_gammaincc(a: float, x: float) -> float:
    """log of the upper incomplete gamma ratio far out (x >> a): DLMF 8.9.2's even part, from its end.

    With x above 600, as it is here, a hundred terms leave an error below one unit in the last place.
    """
    fraction = 0.0
    for j in range(100, 0, -1):
        fraction = j * (a - j) / (x + 2 * j + 1 - a + fraction)
    log_gamma: float = scipy.special.gammaln(a)
    return a * math.log(x) - x - log_gamma - math.log(x + 1 - a + fraction)


class Part(NamedTuple):
    """An estimated variance and its degrees of freedom, infinite if it is treated as known."""

    variance: float
    df: float


def total(parts: Iterable[Part]) -> Part:
    """The sum of independent parts. A sum of 0 keeps the degrees of freedom of its first part."""
    known = list(parts)
    variance = sum(part.variance for part in known)
    uncertainty = sum(part.variance**2 / part.df for part in known)
    if not variance:
        return Part(0.0, known[0].df if known else math.inf)
    present = [part for part in known if part.variance]
    if len(present) == 1:
        return present[0]
    return Part(variance, variance**2 / uncertainty if uncertainty else math.inf)


def with_seeds(of_queries: Sequence[Part], of_seeds: Sequence[Part]) -> tuple[Part, ...]:
    """The variances of which the widest interval counts: over queries and seeds, and over queries alone, whose degrees
    of freedom may be so few that the sum would have the narrower interval.
    """
    given = total(of_queries)
    return (total([*of_queries, *of_seeds]), given) if of_seeds else (given,)


def widest(parts: Sequence[Part], alpha: float) -> Part:
    """The variance estimate with the widest (1 - alpha) interval."""
    return max(parts, key=lambda part: half_width(part, alpha))


def half_width(part: Part, alpha: float) -> float:
    """t(df; 1 - alpha/2) sqrt(variance)."""
    quantile = scipy.special.ndtri(alpha / 2) if math.isinf(part.df) else scipy.special.stdtrit(part.df, alpha / 2)
    return -float(quantile) * math.sqrt(part.variance)


@dataclass(frozen=True)
class Variance:
    """An estimate of the variance of an effect; `df` is that of the t distribution, None for the normal."""

    variance: float
    df: float | None


@dataclass(frozen=True)
class Summary:
    """A summary effect. `df` is that of the t distribution, None for the normal; the p-values test effect = 0.

    `also`: further estimates of its variance. `variance` is the one with the widest interval, which may be another than
    that with the largest p-value.
    """

    effect: float
    variance: float
    se: float
    ci_low: float
    ci_high: float
    df: float | None
    p_value: float | None
    log10_p: float | None
    also: tuple[Variance, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """All estimates of the variance, that of the interval first."""
        own = Variance(self.variance, self.df)
        return tuple(Part(one.variance, math.inf if one.df is None else one.df) for one in (own, *self.also))

    def half_width(self, alpha: float) -> float:
        """Half the width of the (1 - alpha) interval of its variances, on the scale of the synthesis, not cut at what a
        measure allows."""
        return max(half_width(part, alpha) for part in self.parts)

    @property
    def df_of_p(self) -> float | None:
        """The degrees of freedom of the t distribution behind the p-value; None for the normal."""
        tested = max((part for part in self.parts if part.variance), key=lambda part: _tail(self.effect, part).log10_p,
                     default=None)  # fmt: skip
        return self.df if tested is None else _df(tested)


def normal_summary(effect: float, variance: float, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the normal distribution."""
    return part_summary(effect, Part(variance, math.inf), alpha)


def t_summary(effect: float, variance: float, df: float, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the t distribution.

    With identical effects the variance may be 0: the interval is a point, and there is no p-value.
    """
    return part_summary(effect, Part(variance, df), alpha)


def part_summary(effect: float, part: Part, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the t distribution of its variance, or the normal if it is known."""
    return widest_summary(effect, [part], alpha)


def widest_summary(effect: float, parts: Sequence[Part], alpha: float) -> Summary:
    """An effect with the widest (1 - alpha) interval and the largest p-value of several estimates of its variance."""
    chosen = widest(parts, alpha)
    tail = largest([_tail(effect, part) for part in parts if part.variance])
    half = half_width(chosen, alpha)
    others = list(parts)
    others.remove(chosen)
    return Summary(
        effect=float(effect),
        variance=float(chosen.variance),
        se=math.sqrt(chosen.variance),
        ci_low=float(effect - half),
        ci_high=float(effect + half),
        df=_df(chosen),
        p_value=tail.p if tail else None,
        log10_p=tail.log10_p if tail else None,
        also=tuple(Variance(float(part.variance), _df(part)) for part in others),
    )


def largest(tails: Sequence[Tail]) -> Tail | None:
    """The largest tail probability; None if there is none."""
    return max(tails, key=lambda tail: tail.log10_p, default=None)


def upper_tail(value: float, parts: Sequence[Part]) -> Tail:
    """The largest P(T >= value / standard error) of estimates of the variance, at least one of which is above 0."""
    ratios = [(value / math.sqrt(part.variance), part.df) for part in parts if part.variance]
    tails = [normal_upper(ratio) if math.isinf(df) else t_upper(ratio, df) for ratio, df in ratios]
    return max(tails, key=lambda tail: tail.log10_p)


def _tail(effect: float, part: Part) -> Tail:
    ratio = effect / math.sqrt(part.variance)
    return normal_two_sided(ratio) if math.isinf(part.df) else t_two_sided(ratio, part.df)


def _df(part: Part) -> float | None:
    return None if math.isinf(part.df) else part.df


@dataclass(frozen=True)
class SummaryEquivalence:
    """The tests of |effect| < margin and of effect > -margin; None if the summary has no variance."""

    margin: float
    p_equivalence: float | None
    p_non_inferiority: float | None


def equivalence(summary: Summary, margin: float, lower_is_better: bool = False) -> SummaryEquivalence:
    """Test the summary effect against the margin by all estimates of its variance."""
    gain = -summary.effect if lower_is_better else summary.effect
    if not summary.se:
        return SummaryEquivalence(margin, None, None)
    above, below = (upper_tail(margin + side, summary.parts).p for side in (gain, -gain))
    return SummaryEquivalence(margin, max(above, below), above)
