"""The training examples of recipes: their settings, and readable names shared by all recipes with the same examples."""

from __future__ import annotations

import itertools
from functools import cache
from typing import NamedTuple

from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.sections.recipe import Negatives, Recipe

OF_POOL = ("exclude_evaluation", "range_min", "range_max")  # keys of `negatives` that determine the candidates


class Examples(NamedTuple):
    """A set of training examples: those of a recipe for one of its datasets, and of one sample of the queries."""

    recipe: Recipe
    sample: int

    @property
    def dataset(self) -> str:
        """The dataset to which their queries belong."""
        return self.recipe.datasets[0]


def sample_of(recipe: Recipe, seed: int) -> int:
    """The number of the sample of training queries that a seed learns from; 1 if it learns from all."""
    return 1 if recipe.queries == "all" else (seed - 1) % recipe.samples + 1


def examples_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of the training examples of a recipe and sample."""
    negatives, positives = recipe.negatives, recipe.positives
    source = "+".join(negatives.sources)
    words = [f"{recipe.labels}-labels_{negatives.per_query}-{source}-negatives_{recipe.queries}-queries"]
    from_all = negatives.from_ == "random" and negatives.range_max is None
    if (negatives.sampling_strategy != "top" or _cuts(negatives)) and not from_all:
        words.append(f"{negatives.sampling_strategy}-of-{_range(negatives)}")
    words += [f"{rule.replace('_', '-')}-{value}" for rule, value in negatives.filters.items()]
    if negatives.cross_encoder:
        words.append(f"scored-by-{negatives.cross_encoder}")
    if positives.per_query != "all":
        words.append(f"{positives.per_query}-positives")
    if positives.among_candidates:
        words.append("among-candidates")
    if positives.found_within:
        words.append(f"found-within-{positives.found_within}")
    if recipe.draws_by_epoch:
        words.append(f"{recipe.epochs}-draws")
    if recipe.bm25:
        words.append(f"by-{recipe.bm25}")
    return "_".join([*words, *_of_sample(recipe, sample)])


def pool_name(recipe: Recipe, sample: int = 1) -> str:
    """The name of the pool that a cross-encoder scores for the examples of a recipe and sample."""
    source = "+".join(recipe.negatives.sources)
    words = [f"{recipe.labels}-labels_{source}-candidates_{recipe.queries}-queries"]
    if _cuts(recipe.negatives):
        words.append(f"of-{_range(recipe.negatives)}")
    if recipe.positives.among_candidates:
        words.append("among-candidates")
    if recipe.bm25:
        words.append(f"by-{recipe.bm25}")
    return "_".join([*words, *_of_sample(recipe, sample)])


def _of_sample(recipe: Recipe, sample: int) -> list[str]:
    words = []
    if recipe.has_independent_samples:
        words.append(f"independent-sample-{sample}")
    elif sample > 1:
        words.append(f"sample-{sample}")
    if recipe.folds:
        words.append(f"without-fold-{recipe.left_out_fold}-of-{recipe.folds}")
    if not recipe.negatives.exclude_evaluation:
        words.append("with-evaluation-gold")
    return words


def examples_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples of this name; all recipes that share them have the same settings for them."""
    return all_examples(experiment)[dataset, name]


def pool_of(experiment: Experiment, dataset: str, name: str) -> Examples:
    """The examples for which the pool of this name is scored; all that share it have the same settings for it."""
    return _all_pools(experiment)[dataset, name]


@cache
def all_examples(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    """All examples, by dataset and name."""
    found: dict[tuple[str, str], Examples] = {}
    for recipe in itertools.chain(*(recipe.of_each_dataset for recipe in experiment.recipes.values())):
        for sample in range(1, recipe.samples + 1):
            found.setdefault((recipe.datasets[0], examples_name(recipe, sample)), Examples(recipe, sample))
    return found


@cache
def _all_pools(experiment: Experiment) -> dict[tuple[str, str], Examples]:
    found: dict[tuple[str, str], Examples] = {}
    for examples in all_examples(experiment).values():
        recipe, sample = examples
        if recipe.negatives.cross_encoder:
            found.setdefault((examples.dataset, pool_name(recipe, sample)), examples)
    return found


def settings_of(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings of the examples; keys that are not given have the defaults of negatives.py or mine.py."""
    recipe, _ = examples
    settings = {**stated(recipe.negatives, "draw"), **_of_labels(experiment, examples)}
    if recipe.negatives.mined:
        settings["from"] = list(recipe.negatives.sources)
    settings["positives"] = recipe.positives.per_query
    if recipe.positives.found_within:
        settings["found_within"] = recipe.positives.found_within
    if recipe.draws_by_epoch:
        settings["epochs"] = recipe.epochs
    return settings


def pool_settings_of(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings for collecting the pool that a cross-encoder scores for the examples."""
    negatives = stated(examples.recipe.negatives)
    cut = {key: negatives[key] for key in OF_POOL if key in negatives}
    return {**cut, "from": list(examples.recipe.negatives.sources), **_of_labels(experiment, examples)}


def _of_labels(experiment: Experiment, examples: Examples) -> JsonObject:
    """The settings for queries and labels."""
    recipe, sample = examples
    settings = {"labels": recipe.labels, "queries": recipe.queries, "seed": experiment.seed}
    settings["among_candidates"] = recipe.positives.among_candidates
    if sample > 1:
        settings["sample"] = sample
    if recipe.has_independent_samples:
        settings["sampling"] = "independent"
    if recipe.folds:
        settings |= {"folds": recipe.folds, "left_out_fold": recipe.left_out_fold}
    return settings


def _cuts(negatives: Negatives) -> bool:
    """Whether only a range of the ranking supplies candidates."""
    return (negatives.range_min, negatives.range_max) != (0, None)


def _range(negatives: Negatives) -> str:
    """The range of the ranking that supplies candidates, as a part of names."""
    return f"{negatives.range_min}-{'end' if negatives.range_max is None else negatives.range_max}"
