"""The record of a system's choice among recipes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RecipeChoice:
    """The choice of the best recipe of the entry `recipe`: that of the system in `members` that is best on `task`.

    Members are compared by the mean of `measure` over their seeds.
    """

    task: str
    dataset: str
    split: str
    measure: str
    recipe: str
    members: tuple[str, ...]
