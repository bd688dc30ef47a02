"""Recipes that are equal in all that matters, also in where they start, are one training: the first of them.

So a study may say `queries: [32, 128, all]` beside a recipe of all queries, and the checkpoints that both mean are
trained once. The number of samples does not matter where no sample is drawn.
"""

from __future__ import annotations

import json
from typing import Any

from scripts.experiment.epochs_by_queries import RULE

OF_SAMPLES: tuple[str, ...] = ("samples", "sampling")


def once(config: dict[str, Any]) -> dict[str, Any]:
    """Recipes and systems of a checked configuration, each training once, by the name of the first that is equal."""
    recipes = config["recipes"]
    first: dict[str, str] = {}  # what matters of a training -> the recipe that stands for it
    stands_for: dict[str, str] = {}
    for name in _starts_first(recipes):
        stands_for[name] = name
        entry = json.dumps(_what_matters(_restarted(recipes[name], stands_for)), sort_keys=True)
        stands_for[name] = first.setdefault(entry, name)
    kept = {name: _restarted(entry, stands_for) for name, entry in recipes.items() if stands_for[name] == name}
    systems = {name: _renamed(entry, stands_for) for name, entry in config["systems"].items()}
    return {"recipes": kept, "systems": systems}


def _restarted(entry: dict[str, Any], stands_for: dict[str, str]) -> dict[str, Any]:
    """The recipe, with the training that stands for the one that it starts from."""
    start = entry.get("start_from")
    return entry | ({"start_from": stands_for.get(start, start)} if start else {})


def _what_matters(entry: dict[str, Any]) -> dict[str, Any]:
    """The keys of a recipe that make a training another one."""
    idle: tuple[str, ...] = (RULE,)
    if entry["queries"] == "all":
        idle += OF_SAMPLES
    if not entry.get("start_from"):
        idle += ("start_seed",)
    return {key: value for key, value in entry.items() if key not in idle}


def _starts_first(recipes: dict[str, Any]) -> list[str]:
    """The recipes in their order, each after the one that it starts from; one that is unknown or in a circle stays."""
    order: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        before = recipes[name].get("start_from")
        if before in recipes and before not in order and before not in above:
            visit(before, (*above, before))
        order.setdefault(name)

    for name in recipes:
        visit(name, (name,))
    return list(order)


def _renamed(entry: dict[str, Any], stands_for: dict[str, str]) -> dict[str, Any]:
    recipe = entry.get("recipe")
    if isinstance(recipe, str):
        return entry | {"recipe": stands_for.get(recipe, recipe)}
    if isinstance(recipe, dict) and isinstance(recipe.get("each"), dict):
        return entry | {"recipe": {"each": {key: stands_for.get(one, one) for key, one in recipe["each"].items()}}}
    return entry
