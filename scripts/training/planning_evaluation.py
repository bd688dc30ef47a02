"""What the jobs of training are given where a recipe evaluates on dev: the files of dev, and how."""

from __future__ import annotations

from scripts.common.keys import JsonObject, given
from scripts.experiment import job_files
from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import path


def dev_inputs(experiment: Experiment, recipe: str) -> dict[str, str | list[str]]:
    """BM25's run of the dev queries, these (or their passages) and their judgements; nothing without `evaluate`."""
    entry = experiment.recipes[recipe]
    if not entry.evaluate:
        return {"dev_run": [], "dev_queries": [], "dev_qrels": []}
    dataset, length = entry.datasets[0], entry.length_of_passages
    return {
        "dev_run": path("split_run", experiment=experiment.name, dataset=dataset, split="dev"),
        "dev_queries": job_files.texts(experiment, dataset, "queries/dev", length),
        "dev_qrels": path("qrels", experiment=experiment.name, dataset=dataset, split="dev"),
    }


def evaluation_settings(experiment: Experiment, model: str, recipe: str) -> JsonObject:
    """How a model is evaluated while it is trained; nothing without `evaluate`."""
    how = experiment.recipes[recipe].evaluate
    return {"evaluate": {**given(how), "batch_size": experiment.models[model].batch_size}} if how else {}


def code(experiment: Experiment, recipe: str) -> list[str]:
    """The module, below scripts/, that a training loads by name where it is evaluated."""
    return ["training/dev_evaluation.py"] if experiment.recipes[recipe].evaluate else []
