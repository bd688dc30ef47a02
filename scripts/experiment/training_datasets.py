"""The datasets that a recipe learns from: one, or several in one training (`train_on: [[a, b]]`).

Each has its own documents, queries and examples, and each batch is of one of them, so that a batch's other documents,
which are negatives too, are of the query's own collection. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scripts.experiment.checker import Checker

Recipe = Mapping[str, Any]
SAMPLER = "multi_dataset_batch_sampler"
PROPORTIONAL, ROUND_ROBIN = "proportional", "round_robin"
BATCH_ORDER = {PROPORTIONAL: "in proportion to their size", ROUND_ROBIN: "in turn"}


def datasets_of(recipe: Recipe) -> list[str]:
    """The datasets that a recipe learns from, in their order."""
    given: str | list[str] = recipe["train_on"]
    return [given] if isinstance(given, str) else list(given)


def of_each(recipe: Recipe) -> list[dict[str, Any]]:
    """The recipe as it is for each of its datasets alone: how this one's examples are made."""
    return [{**recipe, "train_on": dataset} for dataset in datasets_of(recipe)]


def sampler_of(recipe: Recipe) -> str:
    """How batches of several datasets follow one another, by the library's name."""
    given: str = recipe.get(SAMPLER, PROPORTIONAL)
    return given


def as_text(recipe: Recipe) -> str:
    """The datasets of a recipe, and where there are several how their batches follow one another."""
    names = datasets_of(recipe)
    several = f", whose batches come {BATCH_ORDER[sampler_of(recipe)]}" if len(names) > 1 else ""
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part) + several


def check_sampler(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError where there is nothing for batches to alternate between."""
    if sampler_of(recipe) != PROPORTIONAL and len(datasets_of(recipe)) == 1:
        problem = "only valid with several datasets in one training, such as train_on: [[a, b]]"
        raise check.fail(f"recipes.{name}.{SAMPLER}", problem)
