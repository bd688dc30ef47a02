"""Records of figures that planning resolves and drawing jobs read: the settings that all share, and bar charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import JsonObject


@dataclass(frozen=True, kw_only=True)
class Typeset:
    """The setting that every drawing script has."""

    font: Annotated[str, "of the figure; empty: DejaVu Sans, which comes with matplotlib"] = ""


@dataclass(frozen=True)
class Drawing:
    """The script that writes a table, its input files by option, and its settings.

    The script loads the effects, estimators and intervals of the comparisons `compared` by name.
    """

    script: str
    inputs: dict[str, list[str]]
    settings: JsonObject
    compared: tuple[str, ...] = ()


Drawings = dict[str, Callable[[], Drawing]]  # by name; each is computed on request


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
