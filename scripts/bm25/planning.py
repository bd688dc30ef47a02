"""Paths and settings of the jobs of first stages, from the experiment and the rules' wildcards."""

from __future__ import annotations

from collections.abc import Sequence

from ranktrial.common.keys import JsonObject, given
from ranktrial.common.locations import find_file
from ranktrial.experiment.job_files import task_in
from ranktrial.experiment.languages import analyzer_on
from ranktrial.experiment.records import Experiment
from ranktrial.experiment.results_paths import path
from ranktrial.experiment.system_types import documents_held
from ranktrial.experiment.systems._lexical import settings_of, tunes
from ranktrial.experiment.systems.bm25 import PYSERINI_BM25

NEGATIVES_DEPTH = 200  # documents per training query, from which the best that are not judged relevant become negatives
PYSERINI_INDEX = ("english", "together")  # its index has no suffix in its name
VECTORS = "vectors"  # in the name of an index that stores the terms of documents
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
