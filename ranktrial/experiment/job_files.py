"""Paths of the files of an experiment's datasets, tasks, systems and seeds.

Pure functions of the experiment, for the planning of all stages; nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ranktrial.experiment.records import UNTRAINED, Experiment, System, Task
from ranktrial.experiment.results_paths import SELECTED, exported_recipe, path
from ranktrial.experiment.system_types import system_type
from ranktrial.experiment.systems._neural import of_model
from ranktrial.ir.collection import SPLITS
from ranktrial.models.adapters import adapter, index_of


@cache
def tasks_by_folder(experiment: Experiment) -> dict[str, Task]:
    """Return all tasks by their name in paths, including those used only for selection."""
    return {task.folder: task for task in (experiment.tasks | experiment.selection_tasks).values()}


def task_in(experiment: Experiment, folder: str) -> Task:
    """Return the task with this name in paths."""
    return tasks_by_folder(experiment)[folder]


def corpus(experiment: Experiment, dataset: str, passage_length: int | None = None) -> str:
    """Return the corpus of a dataset, which may be another's, or its passages of the given length."""
    return texts(experiment, experiment.corpus_owner(dataset), "corpus", passage_length)


def texts(experiment: Experiment, dataset: str, name: str, passage_length: int | None = None) -> str:
    """Return the texts `name` (corpus, queries/test …) of a dataset, or their passages of the given length."""
    fields = {"experiment": experiment.name, "dataset": dataset, "texts": name}
    return path("passages", length=passage_length, **fields) if passage_length else path("texts", **fields)


def queries(experiment: Experiment, task: Task, passage_length: int | None = None) -> str:
    """Return the queries of a task, or their passages."""
    return texts(experiment, task.dataset, f"queries/{task.split}", passage_length)


def all_queries(experiment: Experiment, dataset: str) -> list[str]:
    """Return the queries of a dataset, one file per split."""
    return [path("queries", experiment=experiment.name, dataset=dataset, split=split) for split in SPLITS]


def qrels(experiment: Experiment, task: Task) -> str:
    """Return the relevance judgements of a task."""
    return path("qrels", experiment=experiment.name, dataset=task.dataset, split=task.split)


def checkpoint_fields(system: System, dataset: str, seed: int | str) -> dict[str, object]:
    """Return the path fields of the checkpoint that ranks a dataset's tasks; untrained weights have seed 0."""
    if seed == SELECTED:
        assert system.selection is not None  # only a selection has runs of this seed
        seed = system.selection.checkpoint
    recipe = system.recipe_on(dataset)
    if recipe == UNTRAINED:
        seed = 0
    return {"model": system.model, "recipe": recipe, "seed": seed}


def ranking_fields(system: System, dataset: str, seed: int | str) -> dict[str, object]:
    """Return the path fields of the checkpoint in the form in which it ranks; an ONNX export has a separate name."""
    fields = checkpoint_fields(system, dataset, seed)
    if export := of_model(system).export:
        fields["recipe"] = exported_recipe(str(fields["recipe"]), export.backend, export.precision)
    return fields


def checkpoint(experiment: Experiment, system: System, dataset: str, seed: int | str, name: str = "checkpoint") -> str:
    """Return the checkpoint that ranks a dataset's tasks, or another file of its training (`name` in the table)."""
    fields = (ranking_fields if name == "checkpoint" else checkpoint_fields)(system, dataset, seed)
    return path(name, experiment=experiment.name, **fields)


def encoded(experiment: Experiment, system: System, task: Task, seed: int | str) -> tuple[str, str] | None:
    """Return the encoded corpus with which a system ranks, and its timing; None if it encodes none.

    A model that re-ranks whole texts by their vectors encodes the candidates itself, unless configured otherwise.
    """
    if system.model is None or not system_type(system).encodes_corpus(system, experiment.models[system.model]):
        return None
    fields: dict[str, object] = {"experiment": experiment.name, "dataset": experiment.corpus_owner(task.dataset)}
    fields |= ranking_fields(system, task.ranked_dataset, seed)
    fields |= {"passages": f"/passages-{system.passage_length}" if system.passage_length else "", "part": ""}
    fields["form"] = form_of_index(experiment, system.model)
    return path("embeddings", **fields), path("embeddings_timing", **fields)


def made_index(experiment: Experiment, system: System, task: Task, seed: int | str) -> str | None:
    """Return the index made from a system's encoded corpus (see DerivedForm); None without one."""
    if (index := of_model(system).index) is None:
        return None
    fields: dict[str, object] = {"experiment": experiment.name, "dataset": experiment.corpus_owner(task.dataset)}
    fields |= ranking_fields(system, task.ranked_dataset, seed)
    return path("made_index", **fields, made=index.made)


@cache
def form_of_index(experiment: Experiment, model: str) -> str:
    """Return the form of the index of a model; cached, since model types are looked up by file."""
    return index_of(experiment.models[model].type)


def indexed(experiment: Experiment) -> dict[str, str]:
    """Return model -> form of its index, for the models that encode corpora."""
    encoding = [name for name, entry in experiment.models.items() if adapter(entry.type).SEARCHES]
    return {name: form_of_index(experiment, name) for name in encoding}


def index_searched(experiment: Experiment, system: str) -> str:
    """Return the form of the index that a system searches: that of its model type, or of the index made from it."""
    ranker = experiment.systems[system]
    assert ranker.model is not None  # systems that search have a model
    index = of_model(ranker).index
    return index.name if index else form_of_index(experiment, ranker.model)


def ranked_in_shards(experiment: Experiment, system: str) -> bool:
    """Whether a system's runs are made in shards: those that search an index or score pairs."""
    ranker = experiment.systems[system]
    if experiment.shards == 1 or ranker.model is None:
        return False
    return ranker.type == "retrieve" or (
        ranker.type in ("rerank", "score_all") and scores_in_shards(experiment, system)
    )


def searched_by_documents(experiment: Experiment, system: str) -> bool:
    """Whether a shard of a system's runs contains some of the documents and all queries, not vice versa.

    This is not the case for an index that covers all documents, or for rescoring, which may need any document.
    """
    ranker = experiment.systems[system]
    index = of_model(ranker).index
    return ranker.type == "retrieve" and (index is None or index.form.by_documents(index.settings))


def scores_in_shards(experiment: Experiment, system: str) -> bool:
    """Whether a system's model scores pairs of texts in shards."""
    model = experiment.systems[system].model
    return experiment.shards > 1 and model is not None and not adapter(experiment.models[model].type).SEARCHES


def runs(experiment: Experiment, system: System, task: Task, name: str = "run") -> list[str]:
    """Return the runs of a system on a task, one per seed, or other files of them (`name` in the table of paths)."""
    return _of_seeds(experiment, system, task, name, experiment.ranked_task(task).folder)


def metrics(experiment: Experiment, system: System, task: Task, name: str = "metrics") -> list[str]:
    """Return the metrics files of a system on a task, one per seed; `name` as in the table of paths."""
    return _of_seeds(experiment, system, task, name, task.folder)


def _of_seeds(experiment: Experiment, system: System, task: Task, name: str, folder: str) -> list[str]:
    fields = {"experiment": experiment.name, "task": folder, "system": system.name}
    return [path(name, **fields, seed=seed) for seed in experiment.seeds_on(system, task)]


def compared_metrics(experiment: Experiment, comparison: str) -> dict[str, list[str]]:
    """Return the metrics files of control and treatment on all tasks of a comparison, where each is scored."""
    found, files = experiment.comparisons[comparison], {}
    for role in ("control", "treatment"):
        name = getattr(found, role)
        on = found.treatment_on if role == "treatment" else {}
        tasks = [experiment.tasks[on.get(task, task)] for task in found.tasks]
        systems = [experiment.systems[one] for one in (name, found.bases.get(role)) if one]
        files[role] = [file for system in systems for task in tasks for file in metrics(experiment, system, task)]
    return files


def of_comparisons(
    experiment: Experiment, name: str, comparisons: Iterable[str] | None = None, **fields: object
) -> list[str]:
    """Return the path `name` (effects, summaries, tables) of each comparison, by default of all."""
    names = experiment.comparisons if comparisons is None else comparisons
    return [path(name, experiment=experiment.name, comparison=comparison, **fields) for comparison in names]
