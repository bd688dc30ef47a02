"""Recipes that are equal in all that matters, also in where they start, are one training: the first of them.

So a study may say `queries: [32, 128, all]` beside a recipe of all queries, and the checkpoints that both mean are
trained once. The number of samples does not matter where no sample is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scripts.experiment.sections.recipe import Recipe


def once(recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """By the name of each recipe of a checked configuration, that of the first which is the same training."""
    first: dict[Recipe, str] = {}  # what matters of a training -> the recipe that stands for it
    stands_for: dict[str, str] = {}
    for name in _starts_first(recipes):
        matters = _what_matters(restarted(recipes[name], stands_for))
        stands_for[name] = first.setdefault(matters, name)
    return stands_for


def restarted(recipe: Recipe, stands_for: Mapping[str, str]) -> Recipe:
    """The recipe, with the training that stands for the one that it starts from."""
    start = recipe.start_from
    return replace(recipe, start_from=stands_for.get(start, start)) if start else recipe


def _what_matters(recipe: Recipe) -> Recipe:
    """The recipe without what makes no other training of it."""
    recipe = replace(recipe, epochs_rule=None)
    if recipe.queries == "all":
        recipe = replace(recipe, samples=1, sampling="nested")
    return recipe if recipe.start_from else replace(recipe, start_seed="same")


def _starts_first(recipes: Mapping[str, Recipe]) -> list[str]:
    """The recipes in their order, each after the one that it starts from; one that is unknown or in a circle stays."""
    order: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        before = recipes[name].start_from
        if before and before in recipes and before not in order and before not in above:
            visit(before, (*above, before))
        order.setdefault(name)

    for name in recipes:
        visit(name, (name,))
    return list(order)
