"""How the numbers of a comparison are shown: settings that figures and tables share; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal


@dataclass(frozen=True)
class Looks:
    """What a figure or table of a comparison shows, beside its numbers."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    estimator: Annotated[str, "of tau2, to be named"]
    interval: Annotated[str, "of the summary, to be named"]
    judged: Annotated[str, "column of the metrics with the share of judged documents, such as Judged@10; empty: none"]
    p: Annotated[str, "p-value of each task: t-test, randomisation or interval"]
    correction: Annotated[str, "of p for the number of tasks: none, holm or benjamini-hochberg"]
    sort: Annotated[str, "order of tasks: config, effect or weight"]
    title: Annotated[str, "of the figure"] = ""
    notes: Annotated[Literal["figure", "caption"], "where the figure's notes stand"] = "figure"
    width: Annotated[str | float, "of the figure: single column, double column, or inches"] = "double column"
    height: Annotated[float | None, "of the figure, in inches; by its lines where it is not given"] = None
    x_label: Annotated[str | None, "below the axis; what it measures where it is not given"] = None
    digits: Annotated[int | None, "decimals of effects; the data choose them where it is not given"] = None
    lower_is_better: Annotated[bool, "of the measure: a negative difference favours the treatment"] = False
    fixed: Annotated[bool, "draw the fixed-effect summary, too"] = False
    bayesian: Annotated[bool, "draw the Bayesian summary, too"] = False
    limits: Annotated[list[float] | None, "of the figure's axis; the data choose them where they are not given"] = None
    ticks: Annotated[list[float] | None, "of the figure's axis; chosen where they are not given"] = None
    columns: Annotated[list[str] | None, "of the figure; all that there is room for where they are not given"] = None
    trained: Annotated[dict[str, list[str]], "system: the tasks on whose training queries it learnt"] = field(
        default_factory=dict
    )
    unstated: Annotated[list[str], "systems of whose published weights nobody states what they were trained on"] = (
        field(default_factory=list)
    )
