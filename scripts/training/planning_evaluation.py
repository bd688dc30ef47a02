"""The inputs of training jobs whose recipe evaluates on dev: the dev files and the settings."""

from __future__ import annotations

from ranktrial.common.keys import JsonObject, given
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path


def dev_inputs(experiment: Experiment, recipe: str) -> dict[str, str | list[str]]:
    """BM25's run of the dev queries, the queries (or their passages) and their judgements; empty without `evaluate`."""
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
    """The settings for evaluating a model during training; empty without `evaluate`."""
    how = experiment.recipes[recipe].evaluate
    return {"evaluate": {**given(how), "batch_size": experiment.models[model].batch_size}} if how else {}


def code(experiment: Experiment, recipe: str) -> list[str]:
    """The module, relative to scripts/, that a training loads by name if it evaluates."""
    return ["ranktrial/training/dev_evaluation.py"] if experiment.recipes[recipe].evaluate else []
