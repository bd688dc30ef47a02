"""What pages show of systems, tasks and measures: labels in place of names in paths, and what systems learnt from."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache

from ranktrial.common.keys import JsonObject
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.experiment.job_files import tasks_by_folder
from ranktrial.experiment.marks import marked
from ranktrial.experiment.records import Comparison, Experiment


def task_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of tasks that differ from their names in paths."""
    return {folder: task.label for folder, task in tasks_by_folder(experiment).items() if task.label != folder}


def system_labels(experiment: Experiment) -> dict[str, str]:
    """The labels of systems, and of treatments on other tasks, that differ from their names."""
    systems = {name: system.label for name, system in experiment.systems.items() if system.label != name}
    for comparison in experiment.comparisons.values():
        shown = comparison.names(lambda name: experiment.systems[name].label, lambda task: experiment.tasks[task].label)
        systems |= {name: label for name, label in zip(comparison.names(), shown, strict=True) if name != label}
    return systems


def labels(experiment: Experiment) -> dict[str, dict[str, str]]:
    """The labels of tasks and systems."""
    return {"tasks": task_labels(experiment), "systems": system_labels(experiment)}


def labels_of(experiment: Experiment, tasks: Iterable[str], systems: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """The labels of these tasks and systems: no figure is drawn again for a label that it does not show."""
    folders, every = {experiment.tasks[task].folder for task in tasks}, labels(experiment)
    shown = {"tasks": folders, "systems": set(systems)}
    return {what: {name: label for name, label in every[what].items() if name in shown[what]} for what in shown}


def are_of_tasks(experiment: Experiment, tasks: Iterable[str]) -> bool:
    """Whether a value on these tasks is the score of a task of a leaderboard."""
    return all(format_of(experiment.datasets[experiment.tasks[task].dataset]).of_tasks for task in tasks)


@cache
def facts(experiment: Experiment) -> JsonObject:
    """What is known of all systems, tasks and measures."""
    tasks = tasks_by_folder(experiment).values()
    return {
        "labels": labels(experiment),
        "measures": list(dict.fromkeys(measure for task in tasks for measure in task.measures)),
        "systems": list(experiment.systems),
        "lower_is_better": list(dict.fromkeys([*experiment.lower_is_better, *_lower(experiment)])),
        "marks": marked(experiment),
        **of_tasks_setting(experiment, experiment.tasks),
    }


def facts_of(experiment: Experiment, comparisons: Iterable[Comparison]) -> JsonObject:
    """What is known of what these comparisons show: no figure is drawn again for what it does not."""
    compared = list(comparisons)
    shown = compared_labels(experiment, compared)
    measures = list(dict.fromkeys(one.statistics.measure for one in compared))
    folders = {experiment.tasks[task].folder for one in compared for task in one.tasks}
    systems = [name for one in compared for name in one.names()]
    marks: dict[str, dict[str, list[str]]] = {}
    for mark, of in marked(experiment).items():
        for name in dict.fromkeys(systems):
            if held := [task for task in of.get(name, ()) if task in folders]:
                marks.setdefault(mark, {})[name] = held
    lower = [measure for measure in measures if measure in _lower(experiment)]
    of_tasks = of_tasks_setting(experiment, [task for one in compared for task in one.tasks])
    return {"labels": shown, "measures": measures, "lower_is_better": lower, "marks": marks, **of_tasks}


def of_tasks_setting(experiment: Experiment, tasks: Collection[str]) -> JsonObject:
    """`of_tasks`, given only where a value on these tasks is the score of a task of a leaderboard."""
    return {"of_tasks": True} if tasks and are_of_tasks(experiment, tasks) else {}


def compared_labels(experiment: Experiment, comparisons: Iterable[Comparison]) -> dict[str, dict[str, str]]:
    """The labels of the tasks and systems of comparisons."""
    compared = list(comparisons)
    systems = [name for one in compared for name in one.names()]
    return labels_of(experiment, [task for one in compared for task in one.tasks], systems)


def _lower(experiment: Experiment) -> list[str]:
    """The measures of comparisons of which a lower value is better, also one name for the measures of several tasks."""
    return [one.statistics.measure for one in filter(experiment.is_lower_better, experiment.comparisons.values())]
