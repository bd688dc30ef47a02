"""A summary effect with its interval and p-value, by the normal or by Student's t distribution.

An effect may have several estimates of its variance, none of which its interval may be narrower than: the interval is
then the widest of theirs, and the p-value the largest, whatever alpha, so that p < alpha exactly where the interval
excludes 0.

Equivalence of a summary effect: two one-sided tests against a margin (Schuirmann 1987).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ranktrial.statistics.satterthwaite import Part, half_width, widest
from ranktrial.statistics.tails import Tail, normal_two_sided, normal_upper, t_two_sided, t_upper


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
