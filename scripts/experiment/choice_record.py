"""The record of a choice among recipes, which a system holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RecipeChoice:
    """The recipe is the best of entry `recipe`: that of the system among `members` whose runs on `task` are best.

    Of each member the mean of `measure` over its seeds counts.
    """

    task: str
    dataset: str
    split: str
    measure: str
    recipe: str
    members: tuple[str, ...]
