"""The settings of the job of Anserini's reference scores: which of our systems are set up like one of Anserini's.

A system matches where it ranks whole documents as Anserini does: BM25 by Pyserini's parameters and analyser, or the
published weights of a model of the hub that searches exactly.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.keys import JsonObject
from ranktrial.common.locations import HUB_ID
from ranktrial.experiment.records import UNTRAINED, Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.systems._lexical import settings_of, tunes
from ranktrial.experiment.systems._neural import of_model
from ranktrial.experiment.systems.bm25 import NAME as BM25
from ranktrial.experiment.systems.bm25 import PYSERINI_BM25
from ranktrial.experiment.systems.retrieve import NAME as RETRIEVE
from scripts.bm25.planning import index, pyserini_index


def references(experiment: Experiment) -> str | list[str]:
    """The file of reference scores, if the experiment asks for them."""
    return path("references", experiment=experiment.name) if experiment.references else []


def indices(experiment: Experiment) -> list[str]:
    """The indices of systems that match Anserini's BM25, whose sizes are compared, one per corpus."""
    matching = ((system, task) for task in _tasks(experiment) for system in experiment.systems.values())
    found = (
        index(experiment, system.name, task.dataset)
        for system, task in matching
        if _model(experiment, system, task) == BM25
    )
    return list(dict.fromkeys(found))


def statistics(experiment: Experiment) -> list[str]:
    """The statistics of the datasets of all tasks with documents."""
    datasets = dict.fromkeys(task.dataset for task in _tasks(experiment))
    return [path("statistics", experiment=experiment.name, dataset=dataset) for dataset in datasets]


def references_settings(experiment: Experiment) -> JsonObject:
    """The tasks, with the names of their collection, the dataset of their corpus, and the systems that match."""
    tasks = [_described(experiment, task) for task in _tasks(experiment)]
    return {"tasks": tasks, "measures": list(experiment.measures), "depth": experiment.depth}


def _tasks(experiment: Experiment) -> list[Task]:
    asked = experiment.tasks.values() if experiment.references else ()
    return [task for task in asked if task.has_documents and not task.runs_of]


def _described(experiment: Experiment, task: Task) -> JsonObject:
    systems = {name: _model(experiment, system, task) for name, system in experiment.systems.items()}
    location = str(experiment.datasets[task.dataset].location)
    stem = Path(location.rstrip("/").rpartition(":")[2]).name.partition(".")[0]
    return {
        "task": task.folder,
        "dataset": task.dataset,
        "split": task.split,
        "corpus": experiment.corpus_owner(task.dataset),
        "names": list(dict.fromkeys(name.lower().replace("_", "-") for name in (task.dataset, stem))),
        "systems": {name: model for name, model in systems.items() if model},
    }


def _model(experiment: Experiment, system: System, task: Task) -> str | None:
    """Anserini's name for the model of a system that ranks a task as Anserini does; None for any other system."""
    if not system.ranks(task.name) or (system.depth or experiment.depth) < experiment.depth:
        return None
    if system.type == BM25:
        return BM25 if _is_pyserinis(experiment, system, task) else None
    if system.type != RETRIEVE or not _is_exact(system):
        return None
    weights = experiment.models[str(system.model)].weights
    return weights.partition("/")[2].lower() if HUB_ID.fullmatch(weights) and not Path(weights).exists() else None


def _is_pyserinis(experiment: Experiment, system: System, task: Task) -> bool:
    settings = settings_of(system)
    changed = tunes(system) or settings.feedback or settings.parameters != PYSERINI_BM25
    same_index = index(experiment, system.name, task.dataset) == pyserini_index(experiment, task.dataset)
    return same_index and not changed


def _is_exact(system: System) -> bool:
    """Whether published weights search all documents exactly, with complete and unquantised vectors."""
    settings = of_model(system)
    changed = system.recipes or system.passage_length or system.truncate_dim
    return system.recipe == UNTRAINED and not changed and not settings.embeddings and not settings.approximate
