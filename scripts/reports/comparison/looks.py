"""How the numbers of a comparison are shown: settings that figures and tables share; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


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
    width: Annotated[str, "of the figure: single column or double column"] = "double column"
