"""Keys of the sections that compare systems: comparisons, charts, matrices, curves and the plan of the next study.

Effect types and task intervals may declare further keys. Reads and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from ranktrial.common.keys import (
    NULL,
    FilePath,
    Label,
    Level,
    Name,
    NameOrNames,
    Names,
    Needs,
    Not,
    Rule,
    Size,
    Title,
    Written,
)
from ranktrial.statistics.method import DIFFERENCE, FIRST, Statistics

SeveralFiles = Annotated[tuple[FilePath, ...], Rule(min_items=1, unique_items=True)]
FilesOfSeeds = Annotated[dict[str, FilePath | SeveralFiles], Rule(min_properties=1)]  # one, or one per seed or fold


Coordinate = Annotated[float, Rule(minimum=-1_000_000_000, maximum=1_000_000_000)]
Inches = Annotated[float, Rule(title="a number of inches from 3.4 to 40", minimum=3.4, maximum=40)]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The appearance of a forest plot, and further figures of its comparison."""

    title: Annotated[Title, "title of the figure; default none"] = ""
    sort: Annotated[Literal["config", "effect", "weight"], "the order of the tasks"] = "config"
    width: Annotated[
        Literal["single column", "double column"] | Inches,
        "width of the figure in a paper: 3.4 inches (single column), 7 inches (double column), or a number of inches",
    ] = "double column"
    height: Annotated[Inches | None, "height of the figure in inches; default from the number of tasks"] = None
    x_label: Annotated[Title | None, "label of the x axis; default the effect and its measure"] = None
    notes: Annotated[
        Literal["figure", "caption"],
        "where notes are placed: at the bottom of the figure, or in `figures/{name}.txt` and `.tex` for the caption",
    ] = "figure"
    font: Annotated[Label | None, "font of the comparison's figures, instead of the experiment's `font`"] = None
    p: Annotated[
        Literal["t-test", "randomisation", "interval"],
        "p-value shown for each task: that of the paired t-test, of the randomisation test or of the task's interval",
    ] = "t-test"
    correction: Annotated[
        Literal["none", "holm", "benjamini-hochberg"],
        "correction of the t-test's or the randomisation test's p-values for the number of tasks",
        DIFFERENCE,
        Not("figure.p: interval", "it corrects the p-values of the t-test or of the randomisation test"),
    ] = "none"
    together: Annotated[
        Name | None,
        "name of a further figure that shows all comparisons with this name; by default, comparisons made from a "
        "list of treatments share one; all have the same control, family and statistics",
    ] = None
    rows: Annotated[
        Literal["tasks", "treatments"] | None,
        "what a row of a figure of several treatments is: a task of a treatment, or a treatment, with its means alone; "
        "default treatments if there are more than three",
    ] = None
    fixed: Annotated[bool, "draw the fixed-effect summary as well"] = False
    bayesian: Annotated[
        bool, "draw the Bayesian summary as well", Needs("bayesian", "the comparison's key, which computes it")
    ] = False
    limits: Annotated[
        tuple[Coordinate, ...] | None,
        "limits of the axis; intervals that extend beyond them end in arrows",
        Not("figure.axis", "its limits follow from all its comparisons"),
        Rule(min_items=2, max_items=2),
    ] = None
    ticks: Annotated[
        tuple[Coordinate, ...] | None, "tick positions on the axis", Rule(min_items=1, max_items=20, unique_items=True)
    ] = None
    axis: Annotated[
        Name | None, "name of an axis: figures of all comparisons that name the same one have the same limits"
    ] = None
    columns: Annotated[
        tuple[Literal["n", "means", "judged", "effect", "weight", "p"], ...] | None,
        "columns shown beside the plot, if there is room; default all",
        Rule(unique_items=True),
    ] = None
    digits: Annotated[
        int | None, "decimals of the effects; default from the width of the intervals", Rule(minimum=0, maximum=10)
    ] = None
    influence: Annotated[
        bool, "add a figure with each task left out, Cook's distances and Baujat's plot, for three or more tasks"
    ] = False
    queries: Annotated[
        bool, "add a figure with the differences of all queries, with wins, ties and losses", DIFFERENCE
    ] = False


AllOrNames = Literal["all"] | Names
KeyOfSystems = Literal["system", "model", "recipe", "seeds", "rerank", "learner"]


@dataclass(frozen=True, kw_only=True)
class Column:
    """A moderator whose values the user gives."""

    file: Annotated[FilePath, "a TSV file: task, then columns of numbers or text"]
    column: Annotated[Name, "heading of the column"]
    label: Annotated[Label | None, "name in figures and tables"] = None


Moderator = str | Column


@dataclass(frozen=True, kw_only=True)
class ComparisonEntry(Statistics):
    """One comparison after fan-out, so each list of alternatives is a single value."""

    control: Annotated[
        str,
        "the system that the treatment is compared with; starting-point: the one that ranks with the checkpoint from "
        "which the treatment's training starts",
    ]
    treatment: Annotated[str, Written(str | Names), "a system, or a list of systems that makes one comparison each"]
    tasks: Annotated[AllOrNames, "the tasks on which they are compared"] = "all"
    same: Annotated[
        tuple[KeyOfSystems, ...] | None,
        "keep only those pairs of listed controls and treatments that have equal values in these keys of the systems",
        Rule(min_items=1, unique_items=True),
    ] = None
    treatment_on: Annotated[
        dict[str, str] | None,
        "maps a task to the task on which the treatment is scored instead: other texts of the same queries, "
        "matched by query id",
        Rule(min_properties=1),
    ] = None
    gain_over: Annotated[
        dict[str, str] | None,
        "an interaction: maps control and treatment each to the system whose values are subtracted from theirs, query "
        "by query; gains are compared, and the effect is a difference of differences",
        Rule(min_properties=1),
    ] = None
    measure_on: Annotated[
        dict[str, str] | None,
        "maps a task to the measure that is compared on it instead of `measure`; tasks with different measures "
        "need a standardised effect, such as SMD",
        Rule(min_properties=1),
    ] = None
    family: Annotated[
        Name | None,
        "comparisons that name the same family are adjusted together for the number of hypotheses in it (Holm, "
        "Benjamini-Hochberg); those that name none form one family",
    ] = None
    moderators: Annotated[
        tuple[Moderator, ...] | None,
        "moderators of the effect: one meta-regression for each of them, and one for all together",
        Rule(min_items=1, unique_items=True),
    ] = None
    subgroups: Annotated[
        Moderator | None,
        "a categorical moderator (trained, or a column of a file), with one summary per group of tasks",
    ] = None
    figure: Annotated[Figure, "how the comparison is drawn"] = field(default_factory=Figure)


@dataclass(frozen=True, kw_only=True)
class MultipleComparison:
    """A multiple comparison: all pairs of systems, or all systems against one control."""

    systems: Annotated[AllOrNames, "all, or the systems to compare"]
    tasks: Annotated[AllOrNames, "the tasks on which they are compared"] = "all"
    measure: Annotated[str, "the measure that is compared; first: the first of measures"] = FIRST
    against: Annotated[
        str | None,
        "the control with which all others are compared, and not with each other; null: all pairs are compared",
        NULL,
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


@dataclass(frozen=True, kw_only=True)
class StudyEntry:
    """The keys that matrices and curves share: baseline, measure, tasks and title of a transfer study."""

    baseline: str
    measure: Annotated[str, "the measure of all values"]
    tasks: Annotated[AllOrNames, "the targets; all: those for which there is a trained system"] = "all"
    title: Annotated[Title, "title of its table or figure"] = ""


@dataclass(frozen=True, kw_only=True)
class MatrixEntry(StudyEntry):
    """A table of sources by targets."""

    zero_shot: Annotated[
        NameOrNames,
        "systems whose models were trained on a source, one row per source",
    ]
    full_shot: Annotated[
        NameOrNames | None,
        "systems whose models were trained on all queries of the target, from scratch or starting from a row's model",
    ] = None
    pseudo_labels: Annotated[NameOrNames | None, "systems whose models were trained on the target's pseudo-labels"] = (
        None
    )
    baseline: Annotated[str, "a system such as BM25"]
    alpha: Annotated[Level, "p-value of the paired t-test below which a difference is marked"] = 0.01


@dataclass(frozen=True, kw_only=True)
class CurvesEntry(StudyEntry):
    """A measure over the number of training queries."""

    systems: Annotated[
        NameOrNames,
        "systems trained on different numbers of the target's queries",
    ]
    baseline: Annotated[str, "a system drawn as a line"]
    interval: Annotated[
        Literal["range", "t"],
        "bars over the samples (seeds) of a point: the range from lowest to highest, or the t interval of the mean",
    ] = "range"
    alpha: Annotated[Level, "significance level; all intervals have confidence level 1 - alpha"] = 0.05


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
class Designs:
    """The designs of the next study, and the target that they are compared with."""

    power: Annotated[Level, "statistical power"] = 0.8
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


@dataclass(frozen=True, kw_only=True)
class Study(Designs):
    """The plans of the next study."""

    comparisons: Annotated[
        AllOrNames | None, "comparisons whose variances are used; default all, or none if variances are assumed"
    ] = None
    assumed: Annotated[
        dict[Name, Annotated[Assumed, "standard deviations on the scale of the effect"]] | None,
        "assumed variances, one named entry per plan",
        Rule(min_properties=1),
    ] = None
    alpha: Annotated[
        Level | None,
        "significance level of tests and intervals; default that of the comparison, or 0.05 for assumed variances",
    ] = None


@dataclass(frozen=True, kw_only=True)
class Plan(Designs):
    """One plan; `assumed` are its variances if no comparison has them."""

    alpha: float
    assumed: Assumed | None = None
