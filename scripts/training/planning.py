"""What the jobs of training are given: paths and settings, from the experiment and the wildcards of
rules/training.smk.
"""

from __future__ import annotations

from scripts.experiment import job_files
from scripts.experiment.records import UNTRAINED, Experiment
from scripts.experiment.results_paths import path

SCHEDULE = ("loss", "epochs", "batch_size", "micro_batch", "learning_rate", "warmup", "schedule", "weight_decay",
            "checkpoint_steps")  # fmt: skip
OF_WEIGHTS = ("backend", "file", "sha256")


def examples_name(recipe: dict) -> str:
    """The readable name of a recipe's training examples, shared by all recipes that learn from the same ones."""
    negatives = recipe["negatives"]
    words = (
        f"{recipe['labels']}-labels_{negatives['per_query']}-{negatives['from']}-negatives_{recipe['queries']}-queries"
    )
    return words if negatives["exclude_evaluation"] else f"{words}_with-evaluation-gold"


def recipe_of(experiment: Experiment, dataset: str, examples: str) -> dict:
    """A recipe that learns from the examples of this name; of them all recipes that do so say the same."""
    fitting = (
        recipe
        for recipe in experiment.recipes.values()
        if (recipe["train_on"], examples_name(recipe)) == (dataset, examples)
    )
    return next(fitting)


def examples_settings(experiment: Experiment, dataset: str, examples: str) -> dict:
    """How the examples are made."""
    recipe = recipe_of(experiment, dataset, examples)
    return {
        **recipe["negatives"],
        "labels": recipe["labels"],
        "queries": recipe["queries"],
        "seed": experiment.seed,
    }


def examples_first_stage(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """BM25's run of the training queries, where labels or negatives come from it."""
    recipe = recipe_of(experiment, dataset, examples)
    if "bm25" not in (recipe["labels"], recipe["negatives"]["from"]):
        return []
    return path("training_run", experiment=experiment.name, dataset=dataset)


def examples_evaluation_qrels(experiment: Experiment, dataset: str, examples: str) -> list[str]:
    """The judgements of dev and test, whose documents are no negatives where the recipe excludes them."""
    excluded = recipe_of(experiment, dataset, examples)["negatives"]["exclude_evaluation"]
    splits = ("dev", "test") if excluded else ()
    return [path("qrels", experiment=experiment.name, dataset=dataset, split=split) for split in splits]


def start(experiment: Experiment, model: str, recipe: str, seed: str) -> str:
    """The checkpoint from which a training starts."""
    before = experiment.recipes[recipe]["start_from"] or UNTRAINED
    starting_seed = experiment.starting_seed(recipe, int(seed))
    return path("checkpoint", experiment=experiment.name, model=model, recipe=before, seed=starting_seed)


def corpus(experiment: Experiment, recipe: str) -> str:
    """The documents that a recipe learns from, or the passages of them."""
    entry = experiment.recipes[recipe]
    return job_files.corpus(experiment, entry["train_on"], _passage_length(entry))


def queries(experiment: Experiment, recipe: str) -> str:
    """The queries that a recipe learns from, or the passages of them."""
    entry = experiment.recipes[recipe]
    return job_files.texts(experiment, entry["train_on"], "queries/train", _passage_length(entry))


def negatives(experiment: Experiment, recipe: str) -> str:
    """The examples that a recipe learns from."""
    entry = experiment.recipes[recipe]
    names = {"dataset": entry["train_on"], "examples": examples_name(entry)}
    return path("negatives", experiment=experiment.name, **names)


def training_settings(experiment: Experiment, model: str, recipe: str, seed: str) -> dict:
    """How a model is fine-tuned."""
    entry, trained = experiment.recipes[recipe], experiment.models[model]
    by_passage = {"long_documents": "passages"} if _passage_length(entry) else {}
    return {
        **{key: entry[key] for key in SCHEDULE},
        **by_passage,
        "type": trained["type"],
        "max_length": trained["max_length"],
        "seed": int(seed),
    }


def weights_source(experiment: Experiment, model: str) -> tuple[str, str | None]:
    """The location of a model's own weights, and their revision."""
    return experiment.models[model]["weights"], experiment.models[model]["revision"]


def weights_settings(experiment: Experiment, model: str) -> dict:
    """What a model's own weights have to be."""
    return {key: experiment.models[model][key] for key in OF_WEIGHTS if key in experiment.models[model]}


def _passage_length(recipe: dict) -> int | None:
    """The length of the passages that a recipe learns from; None where it learns from whole texts."""
    return recipe["passage_length"] if recipe["long_documents"] == "passages" else None
