"""Paths and settings of the jobs of first stages, from the experiment and the rules' wildcards.

Anserini's reference scores are given for those of our systems that are set up like one of Anserini's: one that ranks
whole documents as Anserini does: BM25 by Pyserini's parameters and analyser, or the published weights of a model of the
hub that searches exactly.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ranktrial.common.keys import JsonObject, given
from ranktrial.common.urls import HUB_ID, find_file
from ranktrial.experiment.datasets import analyzer_on
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.records import UNTRAINED, Experiment, System, Task
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import documents_held
from ranktrial.experiment.systems._lexical import settings_of, tunes
from ranktrial.experiment.systems._neural import of_model
from ranktrial.experiment.systems.bm25 import NAME as BM25
from ranktrial.experiment.systems.bm25 import PYSERINI_BM25
from ranktrial.experiment.systems.retrieve import NAME as RETRIEVE

NEGATIVES_DEPTH = 200  # documents per training query, from which the best that are not judged relevant become negatives
PYSERINI_INDEX = ("english", "together")  # its index has no suffix in its name
VECTORS = "vectors"  # in the name of an index that stores the terms of documents
REVISED = ("fa", "ko", "sv")  # languages whose analysers differ between Lucene 9 (Pyserini 1) and 10 (Pyserini 2)
APPENDED = "appended"  # in the name of an index of documents with further texts


def index(experiment: Experiment, system: str, dataset: str) -> str:
    """The index that a system searches, or the record of its index on a server."""
    settings = settings_of(experiment.systems[system])
    if settings.url:
        of_dataset = {"experiment": experiment.name, "dataset": experiment.corpus_owner(dataset)}
        return path("elasticsearch_index", system=system, **of_dataset)
    more = [VECTORS] if settings.feedback else []
    if settings.texts:
        more.append(APPENDED)
    return _index(experiment, dataset, _of_index(experiment, system, dataset), more)


def index_of_task(experiment: Experiment, system: str, task: str) -> str:
    """The index that a system searches on a task."""
    return index(experiment, system, task_in(experiment, task).dataset)


def pyserini_index(experiment: Experiment, dataset: str) -> str:
    """The index from which negatives are mined, whatever the systems search."""
    return _index(experiment, dataset, _as_pyserini(experiment, dataset))


def _index(experiment: Experiment, dataset: str, how: dict[str, str], more: Sequence[str] = ()) -> str:
    words = [*how.values(), *more]
    named = "" if tuple(words) == PYSERINI_INDEX else f"-{'-'.join(words)}"
    return path("index", experiment=experiment.name, dataset=experiment.corpus_owner(dataset), how=named)


def _of_index(experiment: Experiment, system: str, dataset: str) -> dict[str, str]:
    """The analyser and the fields of the index that a system searches."""
    settings = settings_of(experiment.systems[system])
    return {"analyzer": analyzer_on(experiment, dataset, settings.analyzer), "fields": settings.fields}


def _as_pyserini(experiment: Experiment, dataset: str) -> dict[str, str]:
    return {"analyzer": analyzer_on(experiment, dataset), "fields": "together"}


def index_settings(how: str) -> JsonObject:
    """The settings of the index whose name ends in `how`."""
    analyzer, fields, *more = how.removeprefix("-").split("-") if how else PYSERINI_INDEX
    return {"analyzer": analyzer, "fields": fields, **({"vectors": True} if VECTORS in more else {})}


def analysis_settings(analyzer: str) -> JsonObject:
    """An analyser, with Lucene's version if its terms depend on it: all others give the same terms.

    Where Pyserini is not installed yet, it is that which set-up would install.
    """
    if analyzer not in REVISED:
        return {"analyzer": analyzer}
    try:
        installed = version("pyserini")
    except PackageNotFoundError:
        installed = "1" if sys.version_info < (3, 12) else "2"  # requirements.lock
    return {"analyzer": analyzer, "lucene": 9 if installed.partition(".")[0] == "1" else 10}


def indexed(experiment: Experiment, dataset: str, how: str) -> str:
    """The documents of the index whose name ends in `how`: the corpus, or that with further texts."""
    return path("appended" if how.endswith(f"-{APPENDED}") else "corpus", experiment=experiment.name, dataset=dataset)


def further_texts(experiment: Experiment, dataset: str) -> str | None:
    """The file of a dataset's further texts, local or in a mirror; None if it names none."""
    named = experiment.datasets[dataset].texts
    return find_file(named.append, experiment.mirrors) if named else None


def with_further_texts(experiment: Experiment) -> list[str]:
    """The datasets that name further texts of their documents."""
    return [dataset for dataset, entry in experiment.datasets.items() if entry.texts]


def index_elasticsearch_settings(experiment: Experiment, system: str) -> JsonObject:
    """A system's settings, and how many documents its server must be able to return."""
    indexed_for = experiment.systems[system]
    return {**given(settings_of(indexed_for)), "depth": documents_held(experiment, indexed_for)}


def tuning_settings(experiment: Experiment, system: str, dataset: str) -> JsonObject:
    """The settings of tuning on a dataset's dev queries."""
    settings = settings_of(experiment.systems[system])
    return {**given(settings, "texts"), **_of_index(experiment, system, dataset)}


def tuned_parameters(experiment: Experiment, system: str, task: str) -> str | list[str]:
    """The file of tuned parameters, for a system that tunes them."""
    if not tunes(experiment.systems[system]):
        return []
    dataset = task_in(experiment, task).dataset
    return path("parameters", experiment=experiment.name, dataset=dataset, system=system)


def search_settings(experiment: Experiment, system: str, task: str) -> JsonObject:
    """The settings of a system's search, with parameters only if they are not tuned."""
    searched = experiment.systems[system]
    scoring = {} if tunes(searched) else given(settings_of(searched), "texts", "url")
    how = _of_index(experiment, system, task_in(experiment, task).dataset)
    return {**scoring, **how, "depth": documents_held(experiment, searched), "tag": system}


def training_search_settings(experiment: Experiment, dataset: str) -> JsonObject:
    """The settings of the search for negatives of training queries: Pyserini's defaults."""
    how = _as_pyserini(experiment, dataset)
    return {**PYSERINI_BM25, **how, "depth": NEGATIVES_DEPTH, "tag": "bm25"}


def references(experiment: Experiment) -> str | list[str]:
    """The file of reference scores, if the experiment asks for them."""
    return path("references", experiment=experiment.name) if experiment.references else []


def reference_indices(experiment: Experiment) -> list[str]:
    """The indices of systems that match Anserini's BM25, whose sizes are compared, one per corpus."""
    matching = ((system, task) for task in _tasks(experiment) for system in experiment.systems.values())
    found = (
        index(experiment, system.name, task.dataset)
        for system, task in matching
        if _model(experiment, system, task) == BM25
    )
    return list(dict.fromkeys(found))


def reference_statistics(experiment: Experiment) -> list[str]:
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
    return system.recipe == UNTRAINED and not changed and not settings.index
