"""Sums of independent variance estimates, and the degrees of freedom of a t distribution with them.

Satterthwaite (1946), An approximate distribution of estimates of variance components, Biometrics Bulletin 2(6),
110-114: parts v_p, each with df_p degrees of freedom, sum to V = sum v_p with

    df = V^2 / sum (v_p^2 / df_p).

Reads and writes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import scipy


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
