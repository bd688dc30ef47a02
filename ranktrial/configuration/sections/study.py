"""Keys of the section `plan_study`: variances, designs and target of the next study; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import Label, Level, Name, Not, Rule, Size
from ranktrial.configuration.sections.comparison import AllOrNames

Sd = Annotated[float, Rule(minimum=0, maximum=1_000_000)]
Hours = Sd
Several = Rule(min_items=2, unique_items=True)


@dataclass(frozen=True, kw_only=True)
class Assumed:
    """Standard deviations on the scale of the effect."""

    effect: Annotated[Label, "name to print"] = "Assumed variances"
    query_sd: Annotated[Size, "standard deviation of the difference over the queries of a collection"]
    collection_sd: Annotated[Sd, "standard deviation of the true effect between collections (tau)"]
    trained: Annotated[Literal[0, 1, 2], "number of trained systems among the two"] = 1
    seed_sd: Annotated[Sd, "standard deviation of a trained system between seeds, shared by all collections"] = 0
    seed_by_collection_sd: Annotated[Sd, "standard deviation between seeds of the part specific to each collection"] = 0
    seed_by_query_sd: Annotated[Sd, "standard deviation between seeds of the part specific to each query"] = 0
    training_hours: Annotated[Hours | None, "hours per training"] = None
    collection_hours: Annotated[
        Hours | None, "hours per collection for what a trained system does once, such as encoding it"
    ] = None
    query_hours: Annotated[Hours | None, "hours per query to rank it with a trained system"] = None


@dataclass(frozen=True, kw_only=True)
class Study:
    """The designs of the next study, and the target that they are compared with."""

    comparisons: Annotated[
        AllOrNames | None, "comparisons whose variances are used; default all, or none if variances are assumed"
    ] = None
    assumed: Annotated[
        dict[Name, Annotated[Assumed, "standard deviations on the scale of the effect"]] | None,
        "assumed variances, one named entry per plan",
        Rule(min_properties=1),
    ] = None
    power: Annotated[Level, "statistical power: the probability with which an effect is to be detected"] = 0.8
    alpha: Annotated[
        Level | None,
        "significance level of tests and intervals; default that of the comparison, or 0.05 for assumed variances",
    ] = None
    effect: Annotated[
        Size | None,
        "smallest effect of interest, for which the cheapest design that detects it is determined; default the "
        "margin, for MD",
    ] = None
    half_width: Annotated[
        Size | None, "instead of effect: the largest expected half-width of the interval", Not("plan_study.effect")
    ] = None
    queries: Annotated[
        tuple[Annotated[int, Rule(minimum=2, maximum=10_000_000)], ...],
        "numbers of queries per collection in the designs",
        Several,
    ] = (25, 50, 100, 200, 400, 800, 1600)
    collections: Annotated[
        tuple[Annotated[int, Rule(minimum=2, maximum=1000)], ...], "numbers of collections in the designs", Several
    ] = (3, 5, 7, 10, 15, 20, 30)
    seeds: Annotated[
        tuple[Annotated[int, Rule(minimum=1, maximum=1000)], ...],
        "numbers of seeds per trained system in the designs",
        Rule(min_items=1, unique_items=True),
    ] = (1, 3, 5, 10)
