"""Keys of the section `systems` that all system types share; each type declares its own.

Reads and writes nothing. The types are modules of ranktrial/experiment/systems/.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from ranktrial.common.keys import LEFT_OUT, NO_KEY, Label, Names, Rule, Size, TaskName


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """The keys of every system type."""

    label: Annotated[Label | None, "name in figures and tables", LEFT_OUT] = None
    type: Annotated[str, NO_KEY] = ""  # the NAME of its module


@dataclass(frozen=True, kw_only=True)
class Made(Labelled):
    """The keys of the types whose runs the workflow makes."""

    tasks: Annotated[Literal["all"] | Names | None, "the tasks that the system ranks", LEFT_OUT] = None


@dataclass(frozen=True, kw_only=True)
class SelectSeed:
    """The task and score by which one seed is selected."""

    task: Annotated[
        TaskName | None,
        "the task that decides: dataset/dev; or dataset, its test split, to reproduce work that selected on the "
        "test split",
        LEFT_OUT,
    ] = None
    score: Annotated[
        dict[str, Size] | None,
        "weights of measures, divided by their sum; default {R@1: 3, R@3: 2, R@5: 1}; the smallest seed wins a tie",
        Rule(min_properties=1),
        LEFT_OUT,
    ] = None
    by: Annotated[
        str | None,
        "instead of task: a system with the same model, recipe and seeds, whose selected seed is used",
        LEFT_OUT,
    ] = None
