"""Recipes that are equal in all relevant settings, including their starting point, are trained once, as the first one.

A study may thus have `queries: [32, 128, all]` besides a recipe with all queries, and the checkpoints that both need
are trained once. The number of samples is irrelevant if no sample is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ranktrial.experiment.sections.recipe import Recipe


def once(recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Return the name of each recipe of a checked configuration -> that of the first recipe with the same training."""
    first: dict[Recipe, str] = {}  # relevant settings -> the first recipe with them
    stands_for: dict[str, str] = {}
    for name in _starts_first(recipes):
        matters = _what_matters(restarted(recipes[name], stands_for))
        stands_for[name] = first.setdefault(matters, name)
    return stands_for


def restarted(recipe: Recipe, stands_for: Mapping[str, str]) -> Recipe:
    """Return the recipe with its starting point replaced by the first equal recipe."""
    start = recipe.start_from
    return replace(recipe, start_from=stands_for.get(start, start)) if start else recipe


def _what_matters(recipe: Recipe) -> Recipe:
    """Return the recipe without the settings that do not change the training."""
    recipe = replace(recipe, epochs_rule=None)
    if recipe.queries == "all":
        recipe = replace(recipe, samples=1, sampling="nested")
    return recipe if recipe.start_from else replace(recipe, start_seed="same")


def _starts_first(recipes: Mapping[str, Recipe]) -> list[str]:
    """Return the recipes in order, each after the one that it starts from, unless that is unknown or in a cycle."""
    order: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        before = recipes[name].start_from
        if before and before in recipes and before not in order and before not in above:
            visit(before, (*above, before))
        order.setdefault(name)

    for name in recipes:
        visit(name, (name,))
    return list(order)
