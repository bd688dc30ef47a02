"""How a comparison is drawn: the keys of its `figure`. What can be drawn is checked in figure_checks.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from scripts.common.keys import LEFT_OUT, Label, Name, Rule, Title

INFLUENCE, QUERIES = "influence-", "queries-"  # prefixes of the names of a comparison's further figures
Coordinate = Annotated[float, Rule(minimum=-1_000_000_000, maximum=1_000_000_000)]
Inches = Annotated[float, Rule(title="a number of inches from 3.4 to 40", minimum=3.4, maximum=40)]


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The looks of a forest plot, and further figures of its comparison."""

    title: Annotated[Title, "the figure's heading; by default none"] = ""
    sort: Annotated[Literal["config", "effect", "weight"], "the order of the tasks"] = "config"
    width: Annotated[
        Literal["single column", "double column"] | Inches,
        "of the figure in a paper: 3.4 or 7 inches, or a number of them",
    ] = "double column"
    height: Annotated[
        Inches | None,
        "of the figure, in inches; by default from the number of tasks",
        LEFT_OUT,
    ] = None
    x_label: Annotated[Title | None, "below the axis; by default the effect and its measure", LEFT_OUT] = None
    notes: Annotated[
        Literal["figure", "caption"],
        "where the notes stand: at the foot of the figure, or in `figures/{name}.txt` and `.tex` for the caption",
    ] = "figure"
    font: Annotated[Label | None, "of the comparison's figures, instead of the experiment's `font`", LEFT_OUT] = None
    p: Annotated[
        Literal["t-test", "randomisation", "interval"],
        "the p-value of each task: of the paired t-test, the randomisation test or the task's interval",
    ] = "t-test"
    correction: Annotated[
        Literal["none", "holm", "benjamini-hochberg"],
        "correction of the t-test's or the randomisation test's p-values for the number of tasks",
    ] = "none"
    together: Annotated[
        Name | None,
        "a further figure of this name shows all comparisons that name it; lists of treatments name theirs",
        LEFT_OUT,
    ] = None
    fixed: Annotated[bool, "draw the fixed-effect summary as well"] = False
    bayesian: Annotated[bool, "draw the Bayesian summary as well"] = False
    limits: Annotated[
        tuple[Coordinate, ...] | None,
        "of the axis; intervals that go beyond end in arrows",
        Rule(min_items=2, max_items=2),
        LEFT_OUT,
    ] = None
    ticks: Annotated[
        tuple[Coordinate, ...] | None, "of the axis", Rule(min_items=1, max_items=20, unique_items=True), LEFT_OUT
    ] = None
    axis: Annotated[Name | None, "all figures whose comparisons name the same axis have the same limits", LEFT_OUT] = (
        None
    )
    columns: Annotated[
        tuple[Literal["n", "means", "judged", "effect", "weight", "p"], ...] | None,
        "those that are shown beside the plot, where there is room: all by default",
        Rule(unique_items=True),
        LEFT_OUT,
    ] = None
    digits: Annotated[
        int | None,
        "decimals of the effects; by default from the intervals' width",
        Rule(minimum=0, maximum=10),
        LEFT_OUT,
    ] = None
    influence: Annotated[
        bool,
        "a further figure: each task left out, Cook's distances and Baujat's plot, for three tasks or more",
    ] = False
    queries: Annotated[bool, "a further figure: the differences of all queries, with wins, ties and losses"] = False
