"""What the jobs of training are given where a recipe evaluates on dev: the files of dev, and how."""

from __future__ import annotations

from typing import Any

from scripts.experiment import job_files
from scripts.experiment.evaluation_checks import CANDIDATES, MEASURE
from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import path

DECIDING = ("load_best_model_at_end", "early_stopping_patience", "early_stopping_threshold")


def dev_inputs(experiment: Experiment, recipe: str) -> dict[str, str | list[str]]:
    """BM25's run of the dev queries, these (or their passages) and their judgements; nothing without `evaluate`."""
    entry = experiment.recipes[recipe]
    if "evaluate" not in entry:
        return {"dev_run": [], "dev_queries": [], "dev_qrels": []}
    dataset = entry["train_on"]
    length = entry["passage_length"] if entry["long_documents"] == "passages" else None
    return {
        "dev_run": path("split_run", experiment=experiment.name, dataset=dataset, split="dev"),
        "dev_queries": job_files.texts(experiment, dataset, "queries/dev", length),
        "dev_qrels": path("qrels", experiment=experiment.name, dataset=dataset, split="dev"),
    }


def evaluation_settings(experiment: Experiment, model: str, recipe: str) -> dict[str, Any]:
    """How a model is evaluated while it is trained, and what that decides; nothing without `evaluate`."""
    entry = experiment.recipes[recipe]
    if "evaluate" not in entry:
        return {}
    how = {"measure": MEASURE, "candidates": CANDIDATES} | entry["evaluate"]
    how["batch_size"] = experiment.models[model]["batch_size"]
    return {"evaluate": how, **{key: entry[key] for key in DECIDING if key in entry}}


def code(experiment: Experiment, recipe: str) -> list[str]:
    """The module, below scripts/, that a training loads by name where it is evaluated."""
    return ["training/dev_evaluation.py"] if "evaluate" in experiment.recipes[recipe] else []
