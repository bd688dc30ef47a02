"""The sections `comparisons`, `multiple_comparisons`: which systems are compared on which tasks; reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, FilePath, Label, Level, Name, Names, Rule, Title, Written
from scripts.experiment.sections.figure import Figure
from scripts.experiment.sections.synthesis import Statistics

AllOrNames = Literal["all"] | Names
KeyOfSystems = Literal["system", "model", "recipe", "seeds", "rerank", "learner"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A moderator whose values the user gives."""

    file: FilePath
    column: Name
    label: Annotated[Label | None, "its name in figures and tables", LEFT_OUT] = None


Moderator = str | Column


@dataclass(frozen=True, kw_only=True)
class ComparisonEntry(Statistics):
    """One comparison; fan-out has made single values of its lists."""

    control: Annotated[str, "the system that the other is compared with"]
    treatment: Annotated[str, Written(str | Names), "a system, or a list of systems, each of which makes a comparison"]
    tasks: Annotated[AllOrNames, "the tasks that are compared on"] = "all"
    same: Annotated[
        tuple[KeyOfSystems, ...] | None,
        "of the pairs that lists of controls and treatments make, keep those with equal values in these keys of the "
        "systems",
        Rule(min_items=1, unique_items=True),
        LEFT_OUT,
    ] = None
    treatment_on: Annotated[
        dict[str, str] | None,
        "task: the task that the treatment is scored on instead; other texts of the same queries, by query id",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    measure_on: Annotated[
        dict[str, str] | None,
        "task: the measure that is compared on it in place of measure; tasks of different measures need a standardised "
        "effect, such as SMD",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    family: Annotated[
        Name | None,
        "comparisons that name the same family are adjusted for the number of hypotheses in it (Holm, "
        "Benjamini-Hochberg); those that name none are one family",
        LEFT_OUT,
    ] = None
    moderators: Annotated[
        tuple[Moderator, ...] | None,
        "moderators of the effect: a meta-regression on each of them, and on all together",
        Rule(min_items=1, unique_items=True),
        LEFT_OUT,
    ] = None
    subgroups: Annotated[
        Moderator | None,
        "a categorical moderator (trained, or a column of a file), with one summary per group of tasks",
        LEFT_OUT,
    ] = None
    figure: Annotated[Figure, "how it is drawn"] = field(default_factory=Figure)


@dataclass(frozen=True, kw_only=True)
class MultipleComparison:
    """Many systems at once: all pairs of them, or all against one."""

    systems: Annotated[
        AllOrNames, "all, or those that are compared; an entry that was fanned out means all that it became"
    ]
    tasks: Annotated[AllOrNames, "the tasks that they are compared on"] = "all"
    measure: Annotated[str, "the measure that is compared"] = "nDCG@10"
    against: Annotated[
        str | None,
        "the control that all others are compared with, and not with each other; null compares all pairs",
    ] = None
    statistic: Annotated[
        Literal["t", "difference"],
        "t: each difference over its own standard error; difference: the difference itself, one critical difference "
        "for all (for all pairs the randomised Tukey HSD), which holds only where all pairs of systems vary alike",
    ] = "t"
    alpha: Annotated[Level, "familywise error rate: probability of at least one false difference in the family"] = 0.05
    permutations: Annotated[int, "of the randomisation test", Rule(minimum=1, maximum=1_000_000)] = 10_000
    title: Annotated[Title, "the heading of its figure"] = ""
