"""How a figure is drawn: the record that the planning of a stage gives of each figure, and a setting of all figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from scripts.common.keys import JsonObject


@dataclass(frozen=True, kw_only=True)
class Typeset:
    """A setting of every script that draws."""

    font: Annotated[str, "of the figure; empty: DejaVu Sans, which comes with matplotlib"] = ""


@dataclass(frozen=True)
class Drawing:
    """The script that draws a figure, the files that it reads by its options, and its settings.

    `category` is where Snakemake's report shows it. The script loads the effects, estimators and intervals of the
    comparisons `compared` by their names.
    """

    script: str
    category: str
    inputs: dict[str, list[str]]
    settings: JsonObject
    compared: tuple[str, ...] = ()


Drawings = dict[str, Callable[[], Drawing]]  # by the names of figures; each is worked out where it is asked for
