"""What the jobs that select a seed are given: paths and settings, from the experiment and the wildcards of
rules/selection.smk.
"""

from __future__ import annotations

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment, Selection, Task
from ranktrial.experiment.results_paths import SELECTED, path


def selections(experiment: Experiment) -> dict[str, Selection]:
    """The selections by the system among whose seeds they choose; systems with the same checkpoints share one."""
    return {s.selection.by: s.selection for s in experiment.systems.values() if s.selection}


def selection_task(experiment: Experiment, system: str) -> Task:
    """The task by whose runs a seed of the system is chosen."""
    return experiment.selection_task(selections(experiment)[system])


def candidates(experiment: Experiment, system: str, name: str) -> list[str]:
    """The files `name`, as in the table of paths, of all seeds of a system that selects among them."""
    chooser = experiment.systems[system]
    of_all = {"task": selection_task(experiment, system).folder, "system": system}
    of_all |= {"model": chooser.model, "recipe": chooser.recipe}
    used = {field: value for field, value in of_all.items() if f"{{{field}}}" in path(name)}
    return [path(name, experiment=experiment.name, **used, seed=seed) for seed in chooser.seeds]


def qrels(experiment: Experiment, system: str) -> str:
    """The judgements by which a seed is chosen."""
    return job_files.qrels(experiment, selection_task(experiment, system))


def selection_settings(experiment: Experiment, system: str) -> JsonObject:
    """The settings for choosing a seed."""
    selection, task = selections(experiment)[system], selection_task(experiment, system)
    how = {"score": selection.score, "formula": selection.formula}
    return {"system": system, "task": task.name, "split": task.split, **how}


def records(experiment: Experiment) -> list[str]:
    """The record of each selection."""
    return [
        job_files.checkpoint(experiment, experiment.systems[name], selection.dataset, SELECTED, "seed_selection")
        for name, selection in selections(experiment).items()
    ]
