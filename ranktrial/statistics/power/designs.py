"""Designs of a study (queries per collection, collections, seeds per system), with their precision and costs.

Reads and writes nothing. The model of a difference between two systems on query j of collection i, with seed a of the
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
from typing import NamedTuple

from ranktrial.statistics.power.precision import Part, Precision, precision

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
