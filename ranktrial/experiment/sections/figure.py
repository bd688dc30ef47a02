"""Keys of the `figure` of a comparison; figure_checks.py checks them against the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import LEFT_OUT, Label, Name, Rule, Title

INFLUENCE, QUERIES = "influence-", "queries-"  # prefixes of the names of a comparison's further figures
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
    height: Annotated[
        Inches | None,
        "height of the figure in inches; default from the number of tasks",
        LEFT_OUT,
    ] = None
    x_label: Annotated[Title | None, "label of the x axis; default the effect and its measure", LEFT_OUT] = None
    notes: Annotated[
        Literal["figure", "caption"],
        "where notes are placed: at the bottom of the figure, or in `figures/{name}.txt` and `.tex` for the caption",
    ] = "figure"
    font: Annotated[Label | None, "font of the comparison's figures, instead of the experiment's `font`", LEFT_OUT] = (
        None
    )
    p: Annotated[
        Literal["t-test", "randomisation", "interval"],
        "p-value shown for each task: that of the paired t-test, of the randomisation test or of the task's interval",
    ] = "t-test"
    correction: Annotated[
        Literal["none", "holm", "benjamini-hochberg"],
        "correction of the t-test's or the randomisation test's p-values for the number of tasks",
    ] = "none"
    together: Annotated[
        Name | None,
        "name of a further figure that shows all comparisons with this name; by default, comparisons made from a "
        "list of treatments share one",
        LEFT_OUT,
    ] = None
    rows: Annotated[
        Literal["tasks", "treatments"] | None,
        "what a row of a figure of several treatments is: a task of a treatment, or a treatment, with its means alone; "
        "default treatments if there are more than three",
        LEFT_OUT,
    ] = None
    fixed: Annotated[bool, "draw the fixed-effect summary as well"] = False
    bayesian: Annotated[bool, "draw the Bayesian summary as well"] = False
    limits: Annotated[
        tuple[Coordinate, ...] | None,
        "limits of the axis; intervals that extend beyond them end in arrows",
        Rule(min_items=2, max_items=2),
        LEFT_OUT,
    ] = None
    ticks: Annotated[
        tuple[Coordinate, ...] | None,
        "tick positions on the axis",
        Rule(min_items=1, max_items=20, unique_items=True),
        LEFT_OUT,
    ] = None
    axis: Annotated[
        Name | None, "name of an axis: figures of all comparisons that name the same one have the same limits", LEFT_OUT
    ] = None
    columns: Annotated[
        tuple[Literal["n", "means", "judged", "effect", "weight", "p"], ...] | None,
        "columns shown beside the plot, if there is room; default all",
        Rule(unique_items=True),
        LEFT_OUT,
    ] = None
    digits: Annotated[
        int | None,
        "decimals of the effects; default from the width of the intervals",
        Rule(minimum=0, maximum=10),
        LEFT_OUT,
    ] = None
    influence: Annotated[
        bool,
        "add a figure with each task left out, Cook's distances and Baujat's plot, for three or more tasks",
    ] = False
    queries: Annotated[bool, "add a figure with the differences of all queries, with wins, ties and losses"] = False
