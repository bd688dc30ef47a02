"""What the jobs that mine negatives are given: the runs of systems on training queries, and what filters by scores."""

from __future__ import annotations

import itertools
from typing import Any

from scripts.experiment import job_files
from scripts.experiment.records import SELECTED, Experiment
from scripts.experiment.results_paths import path
from scripts.experiment.sections.recipe import BM25, Recipe
from scripts.training.planning_examples import (
    Examples,
    all_examples,
    examples_name,
    examples_of,
    pool_name,
    pool_of,
    pool_settings_of,
    sample_of,
)

EVERY = 1_000_000  # more documents than a query's pool holds: all of it is scored


def names(experiment: Experiment, of_systems: bool) -> list[str]:
    """The names of the examples whose negatives are mined in the runs of systems or filtered, or of all others."""
    every = all_examples(experiment).items()
    found = [name for (_, name), (recipe, _) in every if recipe.negatives.mined == of_systems]
    return list(dict.fromkeys(found))


def needs_bm25(recipe: Recipe) -> bool:
    """Whether labels, positives or negatives come from BM25's run of the training queries."""
    return BM25 in (recipe.labels, *recipe.negatives.sources) or recipe.positives.among_candidates


def runs(experiment: Experiment, examples: Examples) -> list[str]:
    """The runs of the training queries by the systems that negatives are from: of each that of its first seed."""
    dataset, named = examples.dataset, examples.recipe.negatives.systems
    tasks = [experiment.task_of_split(dataset, "train")] if named else []
    return [job_files.runs(experiment, experiment.systems[name], task)[0] for name in named for task in tasks]


def scores(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """The scores of a cross-encoder, where one filters."""
    recipe, sample = examples_of(experiment, dataset, examples)
    if not recipe.negatives.cross_encoder:
        return []
    fields = {"dataset": dataset, "pool": pool_name(recipe, sample), "system": recipe.negatives.cross_encoder}
    return path("mining_scores", experiment=experiment.name, **fields)


def pool_settings(experiment: Experiment, dataset: str, pool: str) -> dict[str, Any]:
    """How all that a cross-encoder scores is collected."""
    return pool_settings_of(experiment, pool_of(experiment, dataset, pool))


def scorer_seed(experiment: Experiment, dataset: str, system: str) -> int | str:
    """The seed of the cross-encoder that scores training queries: its first, or the one selected on another dataset."""
    chosen = experiment.systems[system]
    own = chosen.selection is None or chosen.selection.dataset == dataset
    return chosen.seeds[0] if own else SELECTED


def scorer(experiment: Experiment, dataset: str, system: str) -> str:
    """The checkpoint of the cross-encoder that scores."""
    seed = scorer_seed(experiment, dataset, system)
    return job_files.checkpoint(experiment, experiment.systems[system], dataset, seed)


def scored_corpus(experiment: Experiment, dataset: str, system: str) -> str:
    """The documents, or passages, that the cross-encoder scores."""
    return job_files.corpus(experiment, dataset, experiment.systems[system].passage_length)


def scored_queries(experiment: Experiment, dataset: str, system: str) -> str:
    """The training queries, or their passages, for which the cross-encoder scores."""
    return job_files.texts(experiment, dataset, "queries/train", experiment.systems[system].passage_length)


def records(experiment: Experiment) -> list[str]:
    """What was mined and filtered for the trainings behind all systems, a record for each set of examples."""
    found: dict[str, None] = {}
    for system in experiment.systems.values():
        for last, own_seed in itertools.product(system.recipes, system.seeds):
            seed = own_seed
            for name, recipe in experiment.chain(last).items():
                if recipe.negatives.mined:
                    examples = examples_name(recipe, sample_of(recipe, seed))
                    for dataset in recipe.datasets:
                        fields = {"dataset": dataset, "examples": examples}
                        found[path("mining_record", experiment=experiment.name, **fields)] = None
                seed = experiment.starting_seed(name, seed)
    return list(found)
