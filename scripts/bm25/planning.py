"""What the jobs of BM25 are given: paths and settings, from the experiment and the wildcards of rules/bm25.smk."""

from __future__ import annotations

from scripts.experiment.job_files import task_in
from scripts.experiment.records import Experiment
from scripts.experiment.results_paths import path
from scripts.experiment.systems.bm25 import PYSERINI_BM25

NEGATIVES_DEPTH = 200  # documents a training query, of which the negatives are the best not judged relevant
OF_INDEX = ("analyzer", "fields")
PYSERINI_INDEX = ("english", "together")  # its index needs no more words in its name


def index(experiment: Experiment, system: str, dataset: str) -> str:
    """The index that a system searches, or the record of its index on a server."""
    settings = experiment.systems[system].settings
    of_dataset = {"experiment": experiment.name, "dataset": experiment.corpus_owner(dataset)}
    if "url" in settings:
        return path("elasticsearch_index", system=system, **of_dataset)
    how = tuple(settings[key] for key in OF_INDEX)
    return path("index", how="" if how == PYSERINI_INDEX else f"-{'-'.join(how)}", **of_dataset)


def index_of_task(experiment: Experiment, system: str, task: str) -> str:
    """The index that a system searches on a task."""
    return index(experiment, system, task_in(experiment, task).dataset)


def pyserini_index(experiment: Experiment, dataset: str) -> str:
    """The index from which negatives come, whatever the systems search."""
    return path("index", experiment=experiment.name, dataset=experiment.corpus_owner(dataset), how="")


def index_settings(how: str) -> dict:
    """The settings of the index whose name ends in `how`."""
    return dict(zip(OF_INDEX, how.removeprefix("-").split("-") if how else PYSERINI_INDEX, strict=True))


def index_elasticsearch_settings(experiment: Experiment, system: str) -> dict:
    """A system's settings, and how many documents its server has to return."""
    return {**experiment.systems[system].settings, "depth": experiment.depth}


def tuned_parameters(experiment: Experiment, system: str, task: str) -> str | list[str]:
    """The tuned parameters' file, for a system that tunes them."""
    if "measure" not in experiment.systems[system].settings:
        return []
    dataset = task_in(experiment, task).dataset
    return path("parameters", experiment=experiment.name, dataset=dataset, system=system)


def search_settings(experiment: Experiment, system: str) -> dict:
    """How a system searches; k1 and b only where they are not tuned."""
    settings = experiment.systems[system].settings
    keys = OF_INDEX if "measure" in settings else (*OF_INDEX, *PYSERINI_BM25)
    return {**{key: settings[key] for key in keys}, "depth": experiment.depth, "tag": system}


def training_search_settings() -> dict:
    """How training queries are searched for negatives: as Pyserini does by default."""
    index_of_pyserini = dict(zip(OF_INDEX, PYSERINI_INDEX, strict=True))
    return {**PYSERINI_BM25, **index_of_pyserini, "depth": NEGATIVES_DEPTH, "tag": "bm25"}
