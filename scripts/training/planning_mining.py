"""The inputs of the jobs that mine negatives: runs of systems on training queries, and scores for filtering."""

from __future__ import annotations

import itertools

from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import SELECTED, path
from scripts.training.planning_examples import (
    Examples,
    all_examples,
    examples_name,
    examples_of,
    pool_name,
    sample_of,
)


def names(experiment: Experiment, of_systems: bool) -> list[str]:
    """The names of the examples whose negatives are mined from systems or filtered, or else of all others."""
    every = all_examples(experiment).items()
    found = [name for (_, name), (recipe, _) in every if recipe.negatives.mined == of_systems]
    return list(dict.fromkeys(found))


def bm25_run(experiment: Experiment, examples: Examples) -> str | list[str]:
    """BM25's run of the training queries, by a system that the recipe names or with Pyserini's defaults, if needed."""
    recipe = examples.recipe
    if not recipe.needs_bm25:
        return []
    if recipe.bm25:
        return _run(experiment, recipe.bm25, examples.dataset)
    return path("split_run", experiment=experiment.name, dataset=examples.dataset, split="train")


def runs(experiment: Experiment, examples: Examples) -> list[str]:
    """The runs of the training queries by the systems that supply negatives, each by its first seed."""
    return [_run(experiment, name, examples.dataset) for name in examples.recipe.negatives.systems]


def _run(experiment: Experiment, system: str, dataset: str) -> str:
    return job_files.runs(experiment, experiment.systems[system], experiment.task_of_split(dataset, "train"))[0]


def scores(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """The scores of a cross-encoder, if one filters."""
    recipe, sample = examples_of(experiment, dataset, examples)
    if not recipe.negatives.cross_encoder:
        return []
    system = recipe.negatives.cross_encoder
    fields = {"dataset": dataset, "pairs": pool_name(recipe, sample), "system": system}
    seed = scorer_seed(experiment, dataset, system)
    return path("pair_scores", experiment=experiment.name, scored="negatives", **fields, seed=seed)


def scorer_seed(experiment: Experiment, dataset: str, system: str) -> int | str:
    """The seed of a model that scores training queries: its first seed, or the one selected on another dataset."""
    chosen = experiment.systems[system]
    own = chosen.selection is None or chosen.selection.dataset == dataset
    return chosen.seeds[0] if own else SELECTED


def records(experiment: Experiment) -> list[str]:
    """The mining records for the trainings behind all systems, one per set of examples."""
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
