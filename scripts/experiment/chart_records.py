"""The record of a bar chart, which planning resolves and the job that draws it reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.experiment.drawing import Typeset


@dataclass(frozen=True)
class Bars:
    """The bars of one colour: a mean of each row's system on a task (its folder), by row."""

    label: str
    task: str
    measure: str
    systems: dict[str, str]


@dataclass(frozen=True)
class Chart(Typeset):
    """A bar chart; `rows` are the models (and systems without one) in the configuration's order."""

    title: str
    axis: Annotated[str, "what the axis shows"]
    rows: Annotated[tuple[str, ...], "models, from the top"]
    bars: Annotated[tuple[Bars, ...], "the bars of each colour"]
    baseline: Annotated[tuple[str, str] | None, "name and label of the system that is drawn as a line"]
