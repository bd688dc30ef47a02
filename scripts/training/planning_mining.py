"""What the jobs that mine negatives are given: the runs of systems on training queries, and what filters by scores."""

from __future__ import annotations

import itertools

from scripts.experiment import job_files
from scripts.experiment.negative_sources import BM25, CROSS_ENCODER, mined, sources, systems
from scripts.experiment.records import SELECTED, Experiment
from scripts.experiment.results_paths import path
from scripts.experiment.training_datasets import datasets_of
from scripts.training.planning_examples import (
    Examples,
    Recipe,
    all_examples,
    examples_name,
    examples_of,
    pool_name,
    sample_of,
)


def names(experiment: Experiment, of_systems: bool) -> list[str]:
    """The names of the examples whose negatives are mined in the runs of systems or filtered, or of all others."""
    every = all_examples(experiment).items()
    found = [name for (_, name), (recipe, _) in every if mined(recipe["negatives"]) == of_systems]
    return list(dict.fromkeys(found))


def needs_bm25(recipe: Recipe) -> bool:
    """Whether labels, positives or negatives come from BM25's run of the training queries."""
    among_candidates = recipe.get("positives", {}).get("among_candidates", False)
    return recipe["labels"] == BM25 or BM25 in sources(recipe["negatives"]) or bool(among_candidates)


def runs(experiment: Experiment, examples: Examples) -> list[str]:
    """The runs of the training queries by the systems that negatives are from: of each that of its first seed."""
    dataset, named = examples.recipe["train_on"], systems(examples.recipe["negatives"])
    tasks = [experiment.task_of_split(dataset, "train")] if named else []
    return [job_files.runs(experiment, experiment.systems[name], task)[0] for name in named for task in tasks]


def scores(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """The scores of a cross-encoder, where one filters."""
    recipe, sample = examples_of(experiment, dataset, examples)
    if CROSS_ENCODER not in recipe["negatives"]:
        return []
    system = recipe["negatives"][CROSS_ENCODER]
    fields = {"dataset": dataset, "pairs": pool_name(recipe, sample), "system": system}
    seed = scorer_seed(experiment, dataset, system)
    return path("pair_scores", experiment=experiment.name, scored="negatives", **fields, seed=seed)


def scorer_seed(experiment: Experiment, dataset: str, system: str) -> int | str:
    """The seed of a model that scores training queries: its first, or the one selected on another dataset."""
    chosen = experiment.systems[system]
    own = chosen.selection is None or chosen.selection.dataset == dataset
    return chosen.seeds[0] if own else SELECTED


def records(experiment: Experiment) -> list[str]:
    """What was mined and filtered for the trainings behind all systems, a record for each set of examples."""
    found: dict[str, None] = {}
    for system in experiment.systems.values():
        for last, own_seed in itertools.product(system.recipes, system.seeds):
            seed = own_seed
            for name, recipe in experiment.chain(last).items():
                if mined(recipe["negatives"]):
                    examples = examples_name(recipe, sample_of(recipe, seed))
                    for dataset in datasets_of(recipe):
                        fields = {"dataset": dataset, "examples": examples}
                        found[path("mining_record", experiment=experiment.name, **fields)] = None
                seed = experiment.starting_seed(name, seed)
    return list(found)
