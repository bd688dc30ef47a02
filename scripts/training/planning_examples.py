"""The training examples of recipes: their readable names, shared by all recipes that learn from the same ones, and the
settings by which they are made.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any, NamedTuple

from scripts.experiment.negative_sources import CROSS_ENCODER, filters, mined, sources
from scripts.experiment.records import Experiment
from scripts.experiment.training_datasets import of_each

Recipe = dict[str, Any]
OF_POOL = ("exclude_evaluation", "range_min", "range_max")  # the keys of negatives by which candidates are taken


class Examples(NamedTuple):
    """A set of training examples: those of a recipe (as it is for one of its datasets alone) and, where it learns from
    several samples, of one of these."""

    recipe: Recipe
    sample: int


def sample_of(recipe: Recipe, seed: int) -> int:
    """The number of the sample of training queries that a seed learns from; 1 where it learns from all."""
    if recipe["queries"] == "all":
        return 1
    samples: int = recipe.get("samples", 1)
    return (seed - 1) % samples + 1


def examples_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of the training examples of a recipe and sample."""
    negatives, positives = recipe["negatives"], recipe.get("positives", {})
    source = "+".join(sources(negatives))
    words = [f"{recipe['labels']}-labels_{negatives['per_query']}-{source}-negatives_{recipe['queries']}-queries"]
    strategy, least, most = _choice(negatives)
    if (strategy, least, most) != ("top", 0, None) and not (negatives["from"] == "random" and most is None):
        words.append(f"{strategy}-of-{least}-{'end' if most is None else most}")
    words += [f"{rule.replace('_', '-')}-{value}" for rule, value in filters(negatives).items()]
    if CROSS_ENCODER in negatives:
        words.append(f"scored-by-{negatives[CROSS_ENCODER]}")
    if (count := positives.get("per_query", "all")) != "all":
        words.append(f"{count}-positives")
    if positives.get("among_candidates"):
        words.append("among-candidates")
    if by_epoch(recipe):
        words.append(f"{recipe['epochs']}-draws")
    return "_".join([*words, *_of_sample(recipe, sample)])


def pool_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of all that a cross-encoder scores for the examples of a recipe and sample."""
    _, least, most = _choice(recipe["negatives"])
    source = "+".join(sources(recipe["negatives"]))
    words = [f"{recipe['labels']}-labels_{source}-candidates_{recipe['queries']}-queries"]
    if (least, most) != (0, None):
        words.append(f"of-{least}-{'end' if most is None else most}")
    if recipe.get("positives", {}).get("among_candidates"):
        words.append("among-candidates")
    return "_".join([*words, *_of_sample(recipe, sample)])


def _of_sample(recipe: Recipe, sample: int) -> list[str]:
    words = []
    if independent(recipe):
        words.append(f"independent-sample-{sample}")
    elif sample > 1:
        words.append(f"sample-{sample}")
    if not recipe["negatives"]["exclude_evaluation"]:
        words.append("with-evaluation-gold")
    return words


def examples_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples of this name; of the recipes that learn from them all say the same."""
    return all_examples(experiment)[dataset, name]


def pool_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples for which the pool of this name is scored; of those that share it all say the same of it."""
    return _all_pools(experiment)[dataset, name]


@cache
def all_examples(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    """All examples by dataset and name."""
    found: dict[tuple[str, str], Examples] = {}
    for recipe in itertools.chain.from_iterable(map(of_each, experiment.recipes.values())):
        for sample in range(1, recipe.get("samples", 1) + 1):
            found.setdefault((recipe["train_on"], examples_name(recipe, sample)), Examples(recipe, sample))
    return found


@cache
def _all_pools(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    found: dict[tuple[str, str], Examples] = {}
    for examples in all_examples(experiment).values():
        recipe, sample = examples
        if CROSS_ENCODER in recipe["negatives"]:
            found.setdefault((recipe["train_on"], pool_name(recipe, sample)), examples)
    return found


def by_epoch(recipe: Recipe) -> bool:
    """Whether each epoch has a draw of its own."""
    return bool(recipe["negatives"].get("draw", "once") == "epoch")


def independent(recipe: Recipe) -> bool:
    """Whether its samples have nothing to do with those of other sizes."""
    return bool(recipe["queries"] != "all" and recipe.get("sampling", "nested") == "independent")


def settings_of(experiment: Experiment, examples: Examples) -> dict[str, Any]:
    """How the examples are made: what is not given has the default of scripts/training/negatives.py or mine.py."""
    recipe, _ = examples
    negatives = {key: value for key, value in recipe["negatives"].items() if key != "draw"}
    if mined(recipe["negatives"]):
        negatives["from"] = sources(recipe["negatives"])
    positives = recipe.get("positives", {})
    settings = {**negatives, **_of_labels(experiment, examples)}
    if "per_query" in positives:
        settings["positives"] = positives["per_query"]
    if by_epoch(recipe):
        settings["epochs"] = recipe["epochs"]
    return settings


def pool_settings_of(experiment: Experiment, examples: Examples) -> dict[str, Any]:
    """How all that a cross-encoder scores for the examples is collected."""
    negatives = examples.recipe["negatives"]
    given = {key: negatives[key] for key in OF_POOL if key in negatives}
    return {**given, "from": sources(negatives), **_of_labels(experiment, examples)}


def _of_labels(experiment: Experiment, examples: Examples) -> dict[str, Any]:
    """Which queries are learnt from, and what is relevant to them."""
    recipe, sample = examples
    settings = {"labels": recipe["labels"], "queries": recipe["queries"], "seed": experiment.seed}
    if "among_candidates" in recipe.get("positives", {}):
        settings["among_candidates"] = recipe["positives"]["among_candidates"]
    if sample > 1:
        settings["sample"] = sample
    if independent(recipe):
        settings["sampling"] = "independent"
    return settings


def _choice(negatives: Recipe) -> tuple[str, int, int | None]:
    strategy: str = negatives.get("sampling_strategy", "top")
    return strategy, negatives.get("range_min", 0), negatives.get("range_max")
