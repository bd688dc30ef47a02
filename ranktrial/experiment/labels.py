"""What pages show of systems, tasks and measures: labels in place of names in paths, and what systems learnt from."""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.common.keys import JsonObject
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.marks import marked
from ranktrial.experiment.records import Experiment


def task_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of tasks that differ from their names in paths."""
    return {folder: task.label for folder, task in tasks_by_folder(experiment).items() if task.label != folder}


def system_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of systems, and of treatments on other tasks, that differ from their names."""
    systems = {name: system.label for name, system in experiment.systems.items() if system.label != name}
    for comparison in experiment.comparisons.values():
        if comparison.treatment_on:
            label = experiment.systems[comparison.treatment].label
            shown = comparison.named(label, lambda task: experiment.tasks[task].label)
            systems[comparison.named(comparison.treatment)] = shown
    return systems


def labels(experiment: Experiment) -> dict[str, dict[str, str]]:
    """The labels of tasks and systems."""
    return {"tasks": task_labels(experiment), "systems": system_labels(experiment)}


def labels_of(experiment: Experiment, tasks: Iterable[str], systems: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """The labels of these tasks and systems: no figure is drawn again for a label that it does not show."""
    folders, every = {experiment.tasks[task].folder for task in tasks}, labels(experiment)
    shown = {"tasks": folders, "systems": set(systems)}
    return {what: {name: label for name, label in every[what].items() if name in shown[what]} for what in shown}


def facts(experiment: Experiment) -> JsonObject:
    """What is known of all systems, tasks and measures."""
    tasks = tasks_by_folder(experiment).values()
    return {
        "labels": labels(experiment),
        "measures": list(dict.fromkeys(measure for task in tasks for measure in task.measures)),
        "systems": list(experiment.systems),
        "lower_is_better": list(experiment.lower_is_better),
        "marks": marked(experiment),
    }
