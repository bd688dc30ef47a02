"""The labels of tasks and systems that figures, tables and pages show in place of their names in paths."""

from ranktrial.experiment.job_files import tasks_by_folder
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
