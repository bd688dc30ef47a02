"""The inputs of the training jobs: paths and settings, from the experiment and the wildcards of rules/training.smk."""

from __future__ import annotations

from collections.abc import Callable

from ranktrial.common.keys import JsonObject, given, given_of
from ranktrial.experiment import job_files
from ranktrial.experiment.model_checks import prompts_by_dataset
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.sections.recipe import UNTRAINED, Recipe
from ranktrial.models.endpoint_keys import address_of, is_served
from ranktrial.models.judging_keys import Judging
from ranktrial.models.model_keys import Model, Weights
from ranktrial.models.training_keys import Training
from scripts.training.planning_evaluation import evaluation_settings
from scripts.training.planning_examples import (
    Examples,
    examples_name,
    examples_of,
    pool_of,
    pool_settings_of,
    sample_of,
    settings_of,
)
from scripts.training.planning_mining import bm25_run, runs

OF_MODEL = ("type", "max_query_length", "max_document_length")


def examples_settings(experiment: Experiment, dataset: str, examples: str) -> JsonObject:
    """The settings for choosing examples."""
    return settings_of(experiment, examples_of(experiment, dataset, examples))


def examples_first_stage(experiment: Experiment, dataset: str, examples: str) -> str | list[str]:
    """BM25's run of the training queries, if labels, positives or negatives come from it."""
    return bm25_run(experiment, examples_of(experiment, dataset, examples))


def examples_evaluation_qrels(experiment: Experiment, dataset: str, examples: str) -> list[str]:
    """The judgements of dev and test, whose documents are not used as negatives if the recipe excludes them."""
    return _evaluation_qrels(experiment, examples_of(experiment, dataset, examples))


def examples_runs(experiment: Experiment, dataset: str, examples: str) -> list[str]:
    """The runs of the training queries by the systems that supply negatives."""
    return runs(experiment, examples_of(experiment, dataset, examples))


def pairs_script(scored: str) -> str:
    """The script that collects the pairs to score: candidate negatives, or the examples of a teacher's students."""
    return {"negatives": "training/pool.py", "teachers": "training/pairs.py"}[scored]


def pairs_inputs(experiment: Experiment, scored: str, dataset: str, pairs: str) -> dict[str, str | list[str]]:
    """The input files for collecting pairs, by the options of the script."""
    fields = {"experiment": experiment.name, "dataset": dataset}
    if scored == "teachers":
        return {"negatives": path("negatives", **fields, examples=pairs)}
    examples = pool_of(experiment, dataset, pairs)
    return {
        "corpus": job_files.corpus(experiment, dataset),
        "queries": path("queries", **fields, split="train"),
        "qrels": path("qrels", **fields, split="train"),
        "evaluation_qrels": _evaluation_qrels(experiment, examples),
        "first_stage": bm25_run(experiment, examples),
        "runs": runs(experiment, examples),
    }


def pairs_settings(experiment: Experiment, scored: str, dataset: str, pairs: str) -> JsonObject:
    """The settings for collecting pairs."""
    return {} if scored == "teachers" else pool_settings_of(experiment, pool_of(experiment, dataset, pairs))


def start(experiment: Experiment, model: str, recipe: str, seed: str) -> str:
    """The checkpoint from which a training starts."""
    before = experiment.recipes[recipe].start_from or UNTRAINED
    starting_seed = experiment.starting_seed(recipe, int(seed))
    return path("checkpoint", experiment=experiment.name, model=model, recipe=before, seed=starting_seed)


def corpus(experiment: Experiment, recipe: str) -> str | list[str]:
    """The documents that a recipe learns from, or their passages: one file per dataset."""
    entry = experiment.recipes[recipe]
    return _files(entry, lambda dataset: job_files.corpus(experiment, dataset, entry.length_of_passages))


def queries(experiment: Experiment, recipe: str) -> str | list[str]:
    """The queries that a recipe learns from, or their passages, in the same order."""
    entry = experiment.recipes[recipe]
    return _files(entry, lambda name: job_files.texts(experiment, name, "queries/train", entry.length_of_passages))


def negatives(experiment: Experiment, recipe: str, seed: str) -> str | list[str]:
    """The examples that a recipe learns from with a seed, in the same order."""
    entry = experiment.recipes[recipe]
    examples = examples_name(entry, sample_of(entry, int(seed)))
    return _files(entry, lambda name: path("negatives", experiment=experiment.name, dataset=name, examples=examples))


def gpus(experiment: Experiment, recipe: str) -> int:
    """The number of GPUs that a training requests from a cluster, per node; none with `device: cpu`."""
    return 0 if experiment.device == "cpu" else experiment.recipes[recipe].gpus


def nodes(experiment: Experiment, recipe: str) -> int:
    """The number of nodes that a training requests from a cluster."""
    return experiment.recipes[recipe].nodes


def tasks(experiment: Experiment, recipe: str) -> int | None:
    """The number of Slurm tasks that a training without GPUs requests: one per node, or Slurm would give only one."""
    return nodes(experiment, recipe) if experiment.device == "cpu" else None


def trained_recipes(experiment: Experiment) -> list[str]:
    """The recipes that are trained, without those that stand for the best of several."""
    return [name for name, entry in experiment.recipes.items() if not entry.chosen]


def training_settings(experiment: Experiment, model: str, recipe: str, seed: str) -> JsonObject:
    """The settings for fine-tuning a model."""
    entry, trained = experiment.recipes[recipe], experiment.models[model]
    return {
        **given_of(Training, entry),
        **{key: value for key, value in given(trained).items() if key in OF_MODEL},
        **_prompts(experiment, trained, entry),
        "max_length": trained.max_length,
        **({"draw": "epoch"} if entry.draws_by_epoch else {}),
        **evaluation_settings(experiment, model, recipe),
        **({"datasets": list(entry.datasets)} if len(entry.datasets) > 1 else {}),
        "seed": int(seed),
        **experiment.kernels_of_jobs,
    }


def _prompts(experiment: Experiment, model: Model, recipe: Recipe) -> JsonObject:
    """The prompts of a training, or those of each of its datasets, in order."""
    each = prompts_by_dataset(experiment, model, recipe.datasets)
    if "" not in each:
        return {"prompts_by_dataset": list(each.values())}
    return {"prompts": each[""]} if each[""] else {}


def weights_source(experiment: Experiment, model: str) -> tuple[str | None, str | None]:
    """The location and revision of a model's own weights; both None for a model behind an endpoint."""
    entry = experiment.models[model]
    return (None, None) if is_served(entry) else (entry.weights, entry.revision)


def weights_settings(experiment: Experiment, model: str) -> JsonObject:
    """The requirements on a model's own weights, or the address of its endpoint."""
    entry = experiment.models[model]
    if is_served(entry):
        return {"endpoint": address_of(entry)}
    return given_of(Weights, entry) | given_of(Judging, entry)


def _evaluation_qrels(experiment: Experiment, examples: Examples) -> list[str]:
    splits = ("dev", "test") if examples.recipe.negatives.exclude_evaluation else ()
    return [path("qrels", experiment=experiment.name, dataset=examples.dataset, split=split) for split in splits]


def _files(recipe: Recipe, file_of: Callable[[str], str]) -> str | list[str]:
    """The file of a recipe's dataset, or a list of files in order if it learns from several."""
    files = [file_of(dataset) for dataset in recipe.datasets]
    return files if len(files) > 1 else files[0]
