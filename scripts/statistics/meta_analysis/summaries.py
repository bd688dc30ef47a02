"""A summary effect with its interval and p-value, by the normal or by Student's t distribution.

Reads and writes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy  # scipy.special is loaded when it is first used: planning imports this module and computes nothing

from scripts.statistics.least_squares.satterthwaite import Part
from scripts.statistics.meta_analysis.tails import Tail, normal_two_sided, t_two_sided


@dataclass(frozen=True)
class Summary:
    """A summary effect. `df` is that of the t distribution, None for the normal; the p-values test effect = 0."""

    effect: float
    variance: float
    se: float
    ci_low: float
    ci_high: float
    df: float | None
    p_value: float | None
    log10_p: float | None


def normal_summary(effect: float, variance: float, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the normal distribution."""
    tail = normal_two_sided(effect / math.sqrt(variance))
    return _summary(effect, variance, -scipy.special.ndtri(alpha / 2), None, tail)


def t_summary(effect: float, variance: float, df: float, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the t distribution.

    With identical effects the variance may be 0: the interval is a point, and there is no p-value.
    """
    tail = t_two_sided(effect / math.sqrt(variance), df) if variance else None
    return _summary(effect, variance, -scipy.special.stdtrit(df, alpha / 2), df, tail)


def part_summary(effect: float, part: Part, alpha: float) -> Summary:
    """An effect and its (1 - alpha) interval by the t distribution of its variance, or the normal if it is known."""
    if math.isinf(part.df):
        return normal_summary(effect, part.variance, alpha)
    return t_summary(effect, part.variance, part.df, alpha)


def _summary(effect: float, variance: float, critical: float, df: float | None, tail: Tail | None) -> Summary:
    se = math.sqrt(variance)
    return Summary(
        effect=float(effect),
        variance=float(variance),
        se=se,
        ci_low=float(effect - critical * se),
        ci_high=float(effect + critical * se),
        df=df,
        p_value=tail.p if tail else None,
        log10_p=tail.log10_p if tail else None,
    )
