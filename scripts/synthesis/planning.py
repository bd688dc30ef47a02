"""What the jobs of synthesis are given: paths and settings, from the experiment and the wildcards of
rules/synthesis.smk and rules/multiple_comparisons.smk.
"""

from __future__ import annotations

from typing import Any

from scripts.experiment import job_files, moderators
from scripts.experiment.descriptions import datasets_learnt
from scripts.experiment.records import Experiment, Moderator, Task
from scripts.experiment.results_paths import path


def control_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's control on all its tasks."""
    comparison = experiment.comparisons[name]
    return _metrics(experiment, comparison.control, comparison.tasks)


def treatment_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of a comparison's treatment on the tasks on which it is scored."""
    comparison = experiment.comparisons[name]
    tasks = [comparison.treatment_on.get(task, task) for task in comparison.tasks]
    return _metrics(experiment, comparison.treatment, tasks)


def comparison_settings(experiment: Experiment, name: str) -> dict[str, Any]:
    """Who is compared, and how. Tasks of `treatment_on` are given by their folders, as paths name them."""
    comparison = experiment.comparisons[name]
    tasks = experiment.tasks
    folders = {
        tasks[task].folder: tasks[treatment_task].folder for task, treatment_task in comparison.treatment_on.items()
    }
    return {
        "control": comparison.control,
        "treatment": comparison.named(comparison.treatment),
        **({"treatment_on": folders} if folders else {}),
        "seed": experiment.seed,
        **comparison.settings,
    }


def moderation_statistics(experiment: Experiment, name: str) -> list[str]:
    """The counts of the datasets of a comparison's tasks, where its moderators need them."""
    needed = moderators.needs_counts(experiment.comparisons[name])
    files = [path("statistics", experiment=experiment.name, dataset=task.dataset) for task in _tasks(experiment, name)]
    return list(dict.fromkeys(files)) if needed else []


def moderation_qrels(experiment: Experiment, name: str) -> list[str]:
    """The judgements of a comparison's tasks, where its moderators need them."""
    needed = moderators.needs_qrels(experiment.comparisons[name])
    return [job_files.qrels(experiment, task) for task in _tasks(experiment, name)] if needed else []


def moderation_settings(experiment: Experiment, name: str) -> dict[str, Any]:
    """What is asked of a comparison's effects, with the values that the user gives, by the tasks' folders."""
    comparison = experiment.comparisons[name]
    learnt = datasets_learnt(experiment, experiment.systems[comparison.treatment])
    origins = {}
    for task in _tasks(experiment, name):
        ranked = experiment.tasks[comparison.treatment_on.get(task.name, task.name)]
        trained = {"trained": True} if {task.dataset, ranked.dataset} & set(learnt) else {}
        origins[task.folder] = {"dataset": task.dataset, "split": task.split, **trained}
    shown: dict[str, Any] = {"moderators": [_asked(experiment, moderator) for moderator in comparison.moderators]}
    if comparison.subgroups:
        shown["subgroups"] = _asked(experiment, comparison.subgroups)
    kept = ("effect", "estimator", "interval", "alpha", "permutations")
    return {
        **{key: comparison.settings[key] for key in kept},
        "seed": experiment.seed,
        "tasks": origins,
        **{key: value for key, value in shown.items() if value},
    }


def _asked(experiment: Experiment, moderator: Moderator) -> dict[str, Any]:
    values = {experiment.tasks[task].folder: value for task, value in (moderator.values or {}).items()}
    return {"name": moderator.name, "label": moderator.label, **({"values": values} if values else {})}


def _tasks(experiment: Experiment, name: str) -> list[Task]:
    return [experiment.tasks[task] for task in experiment.comparisons[name].tasks]


def family_metrics(experiment: Experiment, name: str) -> list[str]:
    """The metrics files of all systems of a multiple comparison on all its tasks."""
    family = experiment.families[name]
    return [file for system in family.systems for file in _metrics(experiment, system, family.tasks)]


def family_settings(experiment: Experiment, name: str) -> dict[str, Any]:
    """Which systems are compared at once, and how."""
    family = experiment.families[name]
    return {"systems": list(family.systems), "seed": experiment.seed, **family.settings}


def _metrics(experiment: Experiment, system: str, tasks: list[str] | tuple[str, ...]) -> list[str]:
    ranker = experiment.systems[system]
    return [file for task in tasks for file in job_files.metrics(experiment, ranker, experiment.tasks[task])]
