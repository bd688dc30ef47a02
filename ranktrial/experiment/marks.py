"""Marks: facts of the configuration that tables of means show behind a mean, or state below.

Planning finds where they hold; pages have the signs and the sentences. A new one is one entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from ranktrial.experiment.descriptions import datasets_learnt, is_unstated
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.records.facts import LEARNT, UNSTATED


@dataclass(frozen=True)
class Mark:
    """A fact: `holds` of a system on a task, `stated` also where it holds on none of the system's tasks.

    `sign` stands behind the mean; without one, the sentences alone name the systems. `said` continues the sentence on
    how to read the report's tables, `note` stands below a printed table; {systems} are those of which it is stated.
    """

    name: str
    sign: str
    holds: Callable[[Experiment, System, Task], bool]
    said: str
    note: str
    stated: Callable[[Experiment, System], bool] = lambda experiment, system: False


def learnt(experiment: Experiment, system: System, task: Task) -> bool:
    """Whether a system learnt from training queries of the task's dataset."""
    return task.ranked_dataset in datasets_learnt(experiment, system, task.ranked_dataset)


def learnt_at_all(experiment: Experiment, system: System) -> bool:
    """Whether a system learnt from any training queries."""
    return any(datasets_learnt(experiment, system, task.ranked_dataset) for task in experiment.runs_of(system))


MARKS = (
    Mark(
        "trained",
        "*",
        learnt,
        "; * marks a task on whose training queries the system learnt, all others are transfer",
        LEARNT.format("*: the system"),
        learnt_at_all,
    ),
    Mark(
        "unstated",
        "",
        lambda experiment, system, task: is_unstated(experiment, system),
        ". What the published weights of {systems} were trained on is not stated",
        UNSTATED.format("{systems}"),
        is_unstated,
    ),
)


def ranked(experiment: Experiment) -> Iterator[tuple[str, System, dict[str, Task]]]:
    """Yield each system by name, and each treatment that a comparison ranks on other tasks: the tasks that it ranks,
    by the folders of those for which they stand.
    """
    for name, system in experiment.systems.items():
        yield name, system, {task.folder: task for task in experiment.runs_of(system)}
    for comparison in experiment.comparisons.values():
        if on := comparison.treatment_on:
            tasks = {experiment.tasks[task].folder: experiment.tasks[on.get(task, task)] for task in comparison.tasks}
            yield comparison.names()[1], experiment.systems[comparison.treatment], tasks


@cache
def marked(experiment: Experiment) -> dict[str, dict[str, list[str]]]:
    """Mark -> the systems of which it is stated -> their tasks on which it holds, by folder."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, system, tasks in ranked(experiment):
        for mark in MARKS:
            held = [folder for folder, task in tasks.items() if mark.holds(experiment, system, task)]
            if held or mark.stated(experiment, system):
                of_system = found.setdefault(mark.name, {}).setdefault(name, [])
                of_system += [folder for folder in held if folder not in of_system]
    return found
