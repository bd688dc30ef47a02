"""The record of a bar chart, resolved by planning and read by the drawing job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.experiment.drawing import Typeset


@dataclass(frozen=True)
class Bars:
    """The bars of one colour: row -> the system whose mean on the task (its folder) is drawn."""

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
