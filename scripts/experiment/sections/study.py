"""The section `plan_study`: for what the next study is planned; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, Label, Level, Name, Rule, Size
from scripts.experiment.sections.comparison import AllOrNames

Sd = Annotated[float, Rule(minimum=0, maximum=1_000_000)]
Hours = Sd
Several = Rule(min_items=2, unique_items=True)


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """Standard deviations on the scale of the effect."""

    effect: Annotated[Label, "a name to print"] = "Assumed variances"
    query_sd: Annotated[Size, "of the difference between the queries of a collection"]
    collection_sd: Annotated[Sd, "of the true effect between collections, tau"]
    trained: Annotated[Literal[0, 1, 2], "how many of the two systems are trained"] = 1
    seed_sd: Annotated[Sd, "of a trained system between seeds, alike in all collections"] = 0
    seed_by_collection_sd: Annotated[Sd, "between seeds, of its own in each collection"] = 0
    seed_by_query_sd: Annotated[Sd, "between seeds, of its own for each query"] = 0
    training_hours: Annotated[Hours | None, "of one training", LEFT_OUT] = None
    collection_hours: Annotated[
        Hours | None, "of what a trained system does once per collection, such as encoding it", LEFT_OUT
    ] = None
    query_hours: Annotated[Hours | None, "of ranking one query with a trained system", LEFT_OUT] = None


@dataclass(frozen=True, kw_only=True)
class Study:
    """Which designs of a next study are held against which target."""

    comparisons: Annotated[
        AllOrNames | None,
        "comparisons whose variances are used: all by default, none where variances are assumed",
        LEFT_OUT,
    ] = None
    assumed: Annotated[
        dict[Name, Annotated[Assumed, "standard deviations on the scale of the effect"]] | None,
        "assumed variances, by a name for each plan",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    power: Annotated[Level, "the probability with which an effect is to be detected"] = 0.8
    alpha: Annotated[
        Level | None,
        "of the tests and intervals; by default that of the comparison, 0.05 where variances are assumed",
        LEFT_OUT,
    ] = None
    effect: Annotated[
        Size | None,
        "the smallest effect of interest, to find the cheapest design that detects it; by default the margin of an MD",
        LEFT_OUT,
    ] = None
    half_width: Annotated[
        Size | None, "in place of an effect: the half-width that the interval is expected to have at most", LEFT_OUT
    ] = None
    queries: Annotated[
        tuple[Annotated[int, Rule(minimum=2, maximum=10_000_000)], ...],
        "of a collection, in each of the designs",
        Several,
    ] = (25, 50, 100, 200, 400, 800, 1600)
    collections: Annotated[
        tuple[Annotated[int, Rule(minimum=2, maximum=1000)], ...], "in each of the designs", Several
    ] = (3, 5, 7, 10, 15, 20, 30)
    seeds: Annotated[
        tuple[Annotated[int, Rule(minimum=1, maximum=1000)], ...],
        "of each trained system, in each of the designs",
        Rule(min_items=1, unique_items=True),
    ] = (1, 3, 5, 10)
