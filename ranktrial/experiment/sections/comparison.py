"""Keys of the sections `comparisons` and `multiple_comparisons`: systems to compare, and tasks; reads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import LEFT_OUT, FilePath, Label, Level, Name, Names, Rule, Title, Written
from ranktrial.experiment.sections.figure import Figure
from ranktrial.experiment.sections.synthesis import FIRST, Statistics

AllOrNames = Literal["all"] | Names
KeyOfSystems = Literal["system", "model", "recipe", "seeds", "rerank", "learner"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A moderator whose values the user gives."""

    file: Annotated[FilePath, "a TSV file: task, then columns of numbers or text"]
    column: Annotated[Name, "heading of the column"]
    label: Annotated[Label | None, "name in figures and tables", LEFT_OUT] = None


Moderator = str | Column


@dataclass(frozen=True, kw_only=True)
class ComparisonEntry(Statistics):
    """One comparison after fan-out, so each list of alternatives is a single value."""

    control: Annotated[str, "the system that the treatment is compared with"]
    treatment: Annotated[str, Written(str | Names), "a system, or a list of systems that makes one comparison each"]
    tasks: Annotated[AllOrNames, "the tasks on which they are compared"] = "all"
    same: Annotated[
        tuple[KeyOfSystems, ...] | None,
        "keep only those pairs of listed controls and treatments that have equal values in these keys of the systems",
        Rule(min_items=1, unique_items=True),
        LEFT_OUT,
    ] = None
    treatment_on: Annotated[
        dict[str, str] | None,
        "maps a task to the task on which the treatment is scored instead: other texts of the same queries, "
        "matched by query id",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    measure_on: Annotated[
        dict[str, str] | None,
        "maps a task to the measure that is compared on it instead of `measure`; tasks with different measures "
        "need a standardised effect, such as SMD",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    family: Annotated[
        Name | None,
        "comparisons that name the same family are adjusted together for the number of hypotheses in it (Holm, "
        "Benjamini-Hochberg); those that name none form one family",
        LEFT_OUT,
    ] = None
    moderators: Annotated[
        tuple[Moderator, ...] | None,
        "moderators of the effect: one meta-regression for each of them, and one for all together",
        Rule(min_items=1, unique_items=True),
        LEFT_OUT,
    ] = None
    subgroups: Annotated[
        Moderator | None,
        "a categorical moderator (trained, or a column of a file), with one summary per group of tasks",
        LEFT_OUT,
    ] = None
    figure: Annotated[Figure, "how the comparison is drawn"] = field(default_factory=Figure)


@dataclass(frozen=True, kw_only=True)
class MultipleComparison:
    """A multiple comparison: all pairs of systems, or all systems against one control."""

    systems: Annotated[
        AllOrNames, "all, or the systems to compare; a fanned-out entry stands for all systems made from it"
    ]
    tasks: Annotated[AllOrNames, "the tasks on which they are compared"] = "all"
    measure: Annotated[str, "the measure that is compared; first: the first of measures"] = FIRST
    against: Annotated[
        str | None,
        "the control with which all others are compared, and not with each other; null: all pairs are compared",
    ] = None
    statistic: Annotated[
        Literal["t", "difference"],
        "t: each difference divided by its own standard error; difference: the difference itself, with one "
        "critical difference for all (for all pairs, the randomised Tukey HSD), which is valid only if the "
        "differences of all pairs have equal variance",
    ] = "t"
    alpha: Annotated[Level, "familywise error rate: probability of at least one false difference in the family"] = 0.05
    permutations: Annotated[
        int, "number of permutations in the randomisation test", Rule(minimum=1, maximum=1_000_000)
    ] = 10_000
    title: Annotated[Title, "title of its figure"] = ""
