"""The record of a figure that a stage's planning returns, and a setting that all figures share."""

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
    """The script that draws a figure, its input files by option, and its settings.

    `category` is the category of the figure in Snakemake's report. The script loads the effects, estimators and
    intervals of the comparisons `compared` by name.
    """

    script: str
    category: str
    inputs: dict[str, list[str]]
    settings: JsonObject
    compared: tuple[str, ...] = ()


Drawings = dict[str, Callable[[], Drawing]]  # by figure name; each is computed on request
