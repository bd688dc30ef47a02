"""Paths and settings of the explorer's job, from the experiment. See rules/explorer.smk."""

from __future__ import annotations

import os

from ranktrial.common.home import ROOT, own_file
from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Comparison, Experiment, System, Task
from ranktrial.experiment.results_paths import fields_of, path

PAGE, STYLE = "ranktrial/explorer/page", "ranktrial/reports/writing/page.css"  # as in ranktrial/explorer/folder.py


def explored(experiment: Experiment) -> dict[str, Comparison]:
    """The comparisons that the explorer shows: those of one measure and of two systems."""
    return {name: one for name, one in experiment.comparisons.items() if not (one.measure_on or one.gain_over)}


def folder(experiment: Experiment) -> list[str]:
    """The explorer's folder, if there is anything to compare."""
    return [path("explorer", experiment=experiment.name)] if explored(experiment) else []


def page_files() -> list[str]:
    """Our files that the explorer is made of."""
    return [STYLE, *(str(file.relative_to(ROOT)) for file in own_file(PAGE).rglob("*") if file.is_file())]


def asked(experiment: Experiment) -> list[str]:
    """The explorer, unless results were resumed from an archive without texts, which has none."""
    wanted, left_out = folder(experiment), path("left_out", experiment=experiment.name)
    taken_over = os.path.exists(left_out) and not any(map(os.path.exists, wanted))
    return [] if taken_over and not all(map(os.path.exists, texts(experiment))) else wanted


def texts(experiment: Experiment) -> list[str]:
    """The corpora and queries that are shown."""
    files = [
        file for task in tasks_of(experiment) for file in (*_corpora(experiment, task), _queries(experiment, task))
    ]
    return list(dict.fromkeys(filter(None, files))) if experiment.explorer.texts else []


def tasks_of(experiment: Experiment) -> list[Task]:
    """The tasks of all comparisons, in the configuration's order."""
    named = {task for comparison in explored(experiment).values() for task in comparison.tasks}
    return [task for name, task in experiment.tasks.items() if name in named]


def sources(experiment: Experiment, task: Task) -> dict[str, tuple[System, Task]]:
    """The systems that rank a task, and treatments compared on it that rank another task, by name."""
    ranked = {name: (system, task) for name, system in experiment.systems.items() if system.ranks(task.name)}
    for comparison in explored(experiment).values():
        if other := comparison.treatment_on.get(task.name):
            _, name = comparison.names()
            ranked[name] = (experiment.systems[comparison.treatment], experiment.tasks[other])
    return ranked


def _each(experiment: Experiment) -> list[tuple[System, Task]]:
    return [pair for task in tasks_of(experiment) for pair in sources(experiment, task).values()]


def runs(experiment: Experiment) -> list[str]:
    """All runs of these tasks."""
    ranked = [(system, task) for system, task in _each(experiment) if not task.values_given]
    return list(dict.fromkeys(file for pair in ranked for file in job_files.runs(experiment, *pair)))


def metrics(experiment: Experiment) -> list[str]:
    """All values of these tasks."""
    return list(dict.fromkeys(file for pair in _each(experiment) for file in job_files.metrics(experiment, *pair)))


def qrels(experiment: Experiment) -> list[str]:
    """The judgements of these tasks."""
    return [job_files.qrels(experiment, task) for task in tasks_of(experiment) if not task.values_given]


def statistics(experiment: Experiment) -> list[str]:
    """The statistics of the datasets with texts: they have the SHA-256 of texts, and remain if these are deleted."""
    corpora = [file for task in tasks_of(experiment) for file in _corpora(experiment, task)]
    queries = [file for task in tasks_of(experiment) if (file := _queries(experiment, task))]
    owners = [fields_of("corpus", file) for file in corpora] + [fields_of("queries", file) for file in queries]
    named = dict.fromkeys(owner["dataset"] for owner in owners)
    return [path("statistics", experiment=experiment.name, dataset=dataset) for dataset in named]


def explorer_settings(experiment: Experiment) -> JsonObject:
    """The settings: everything that is in no file."""
    return {
        "experiment": experiment.name,
        **stated(experiment.explorer),
        "depth": min(experiment.explorer.depth, experiment.depth),
        "tasks": {task.folder: _task(experiment, task) for task in tasks_of(experiment)},
        "systems": _labels(experiment),
        "order": list(explored(experiment)),
        "comparisons": {name: _comparison(experiment, one) for name, one in explored(experiment).items()},
    }


def _documents(experiment: Experiment, task: Task) -> bool:
    """Whether the documents that a task's runs rank are known."""
    return experiment.ranked_task(task).has_documents


def _task(experiment: Experiment, task: Task) -> JsonObject:
    return {
        "label": task.label,
        "corpora": _corpora(experiment, task),
        "queries": _queries(experiment, task),
        "qrels": "" if task.values_given else job_files.qrels(experiment, task),
        "sources": {name: _source(experiment, *pair) for name, pair in sources(experiment, task).items()},
    }


def _corpora(experiment: Experiment, task: Task) -> list[str]:
    """The corpora that the runs of a task rank."""
    others = [other for _, other in sources(experiment, task).values() if _documents(experiment, other)]
    return list(dict.fromkeys(job_files.corpus(experiment, other.ranked_dataset) for other in others))


def _queries(experiment: Experiment, task: Task) -> str:
    """The queries of a task, which may be another's."""
    ranked = experiment.ranked_task(task)
    return job_files.queries(experiment, ranked) if _documents(experiment, ranked) else ""


def _source(experiment: Experiment, system: System, task: Task) -> dict[str, str]:
    runs = "" if task.values_given else experiment.ranked_task(task).folder
    return {"system": system.name, "metrics": task.folder, "runs": runs}


def _labels(experiment: Experiment) -> dict[str, str]:
    labels = {name: system.label or name for name, system in experiment.systems.items()}
    for comparison in explored(experiment).values():
        shown = comparison.names(labels.__getitem__, lambda task: experiment.tasks[task].label)
        labels |= dict(zip(comparison.names(), shown, strict=True))
    return labels


def _comparison(experiment: Experiment, comparison: Comparison) -> JsonObject:
    measured = comparison.statistics
    control, treatment = comparison.names()
    return {
        "control": control,
        "treatment": treatment,
        "measure": measured.measure,
        "alpha": measured.alpha,
        "lower_is_better": measured.measure in experiment.lower_is_better,
        "tasks": [experiment.tasks[task].folder for task in comparison.tasks],
    }
