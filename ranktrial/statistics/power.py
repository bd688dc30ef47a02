"""Power, smallest detectable effect and expected interval of study designs, with the designs' costs.

The precision of an estimate with a given variance: power, smallest detectable effect, expected interval.

An estimate Y of an effect has a variance V, the sum of parts that the experiment estimates
independently, each with its own degrees of freedom. Y over the root of the estimated V is compared with Student's t
with Satterthwaite's degrees of freedom (1946, Biometrics Bulletin 2(6), 110-114), which are also estimated:

    df = V^2 / sum V_p^2 / df_p, of the estimates V_p, which are V_p chi2(df_p) / df_p.

Power and half-width are means over the joint distribution of these estimates. If a part has few degrees of freedom,
they differ from those at the true variances: the estimated degrees of freedom vary with the estimate of that part. With
a single part, the degrees of freedom are known, and power is that of noncentral t (Cohen 1988, Statistical Power
Analysis, chapter 2; R's power.t.test(strict = TRUE)); with a known variance, it is normal (Hedges and Pigott 2001,
Psychological Methods 6(3), 203-217).

Designs of a study (queries per collection, collections, seeds per system), with their precision and costs.

The model of a difference between two systems on query j of collection i, with seed a of the
first and b of the second, each of which may be trained:

    difference = effect + collection(i) + query(i, j) + training(a; i, j) - training(b; i, j)
    training(a; i, j) = seed(a) + seed x collection(a, i) + seed x query(a, i, j)

seed(a) is the same in all collections that a checkpoint ranks, so more collections do not average it out. With n
queries, k collections and m seeds, all averaged, the variance of the effect

    of one collection is  (query + seed x query / m) / n  +  (seed + seed x collection) / m,
    over collections is  (collection + (query + seed x query / m) / n + seed x collection / m) / k  +  seed / m,

where the seeds' terms are summed over the trained systems. The first term over collections is estimated from the
scatter of the k effects, with k - 1 degrees of freedom; a system's m seeds estimate their own terms with m - 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.summaries import legendre

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


SECONDS_AN_HOUR = 3600
MOST_COLLECTIONS = 10_000  # no study has more


class Design(NamedTuple):
    """`queries` of each collection, `collections`, and `seeds` with which each trained system is trained.

    Curves also use fractional numbers of queries and collections.
    """

    queries: float
    collections: float
    seeds: int


@dataclass(frozen=True)
class SeedVariance:
    """The seed variances of a system, and the degrees of freedom with which they were estimated.

    `df` (inf: they are assumed) is used in designs with one seed, which cannot estimate them.
    """

    seed: float
    seed_by_collection: float
    seed_by_query: float
    df: float


@dataclass(frozen=True)
class Components:
    """The variances of a difference; `seed_variances` of each trained system."""

    query: float
    collection: float
    seed_variances: tuple[SeedVariance, ...] = ()


@dataclass(frozen=True)
class Hours:
    """The hours of a system: per training (None: it has none), per collection, and per query."""

    training: float | None
    collection: float
    query: float

    def of(self, design: Design) -> float:
        """The hours of a design; a system without training ranks once."""
        trained, seeds = (0.0, 1) if self.training is None else (self.training, design.seeds)
        return seeds * (trained + design.collections * (self.collection + design.queries * self.query))


@dataclass(frozen=True)
class Target:
    """The target of a study: an effect to detect, or an expected half-width of the interval. Exactly one is given."""

    effect: float | None = None
    half_width: float | None = None

    def met_by(self, found: Precision) -> bool:
        if self.half_width is not None:
            return found.half_width <= self.half_width
        return self.effect is not None and found.detectable <= self.effect


class Row(NamedTuple):
    """One design in a test, `task` (one collection, the paired t-test) or `summary`; `hours` is None if unknown."""

    test: str
    design: Design
    found: Precision
    hours: float | None


@dataclass(frozen=True)
class Question:
    """The level and power of the tests, and the summary's interval by its name in ranktrial/statistics/intervals.

    The normal one treats the variance as known, except that between seeds. That of Knapp and Hartung is never narrower
    than the normal one of the variance over queries (and seed x collection). All others are treated like that of the
    effects' scatter.
    """

    alpha: float
    power: float
    interval: str = "equal-weights"

    def of_task(self, components: Components, design: Design) -> Precision:
        """The precision of one collection's effect."""
        return precision(_task_parts(components, design), self.alpha, self.power)

    def of_summary(self, components: Components, design: Design) -> Precision:
        """The precision of the mean effect over collections."""
        parts = _summary_parts(components, design)
        if self.interval == "normal":
            parts = [parts[0]._replace(df=math.inf), *parts[1:]]
        if self.interval != "knapp-hartung":
            parts = [part._replace(floor=0.0) for part in parts]
        return precision(parts, self.alpha, self.power)


def rows(
    components: Components,
    question: Question,
    hours: Sequence[Hours],
    queries: Sequence[int],
    collections: Sequence[int],
    seeds: Sequence[int],
) -> list[Row]:
    """All designs, first those of one collection; without trained systems there is one seed."""
    counts = seeds if components.seed_variances else [1]
    found = []
    for number in [1, *collections]:
        for m in counts:
            for n in queries:
                design = Design(n, number, m)
                test = "task" if number == 1 else "summary"
                shown = (question.of_task if number == 1 else question.of_summary)(components, design)
                cost = math.fsum(system.of(design) for system in hours) if hours else None
                found.append(Row(test, design, shown, cost))
    return found


def cheapest(candidates: Iterable[Row], target: Target) -> Row | None:
    """The row that meets the target with the fewest hours; then with the fewest queries, seeds, collections."""

    def cost(row: Row) -> tuple[float, ...]:
        n, k, m = row.design
        return (row.hours or 0.0, n * k, m, k)

    return min((row for row in candidates if target.met_by(row.found)), key=cost, default=None)


def enough_collections(components: Components, question: Question, most: Design, target: Target) -> int | None:
    """The fewest collections that meet the target with the queries and seeds of `most`; None if no number does."""

    def meets(collections: int) -> bool:
        return target.met_by(question.of_summary(components, most._replace(collections=collections)))

    if target == Target():
        return None
    low, high = 1, 2  # doubled first: with few seeds, precision has a limit
    while not meets(high):
        low, high = high, 2 * high
        if high > MOST_COLLECTIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high


def _task_parts(components: Components, design: Design) -> list[Part]:
    queries, _, seeds = design
    parts = [Part(_of_queries(components, design), queries - 1)]
    return parts + [Part((of.seed + of.seed_by_collection) / seeds, _df(of, seeds)) for of in components.seed_variances]


def _summary_parts(components: Components, design: Design) -> list[Part]:
    _, collections, seeds = design
    of_task = (
        _of_queries(components, design) + math.fsum(of.seed_by_collection for of in components.seed_variances) / seeds
    )
    between = components.collection + of_task
    parts = [Part(between / collections, collections - 1, floor=of_task / collections)]
    return parts + [Part(of.seed / seeds, _df(of, seeds)) for of in components.seed_variances]


def _of_queries(components: Components, design: Design) -> float:
    noise = math.fsum(of.seed_by_query for of in components.seed_variances) / design.seeds
    return (components.query + noise) / design.queries


def _df(of: SeedVariance, seeds: int) -> float:
    return seeds - 1 if seeds > 1 else of.df
