"""Marks: facts of the configuration that tables of means show behind a mean, or state below.

Planning finds where they hold; pages have the signs and the sentences. A new one is one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ranktrial.experiment.descriptions import datasets_learnt, is_unstated
from ranktrial.experiment.records import Experiment, System, Task


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
        "*: the system learnt from training queries of this task's dataset.",
        learnt_at_all,
    ),
    Mark(
        "unstated",
        "",
        lambda experiment, system, task: is_unstated(experiment, system),
        ". What the published weights of {systems} were trained on is not stated",
        "Not stated: what the published weights of {systems} were trained on.",
        is_unstated,
    ),
)


def marked(experiment: Experiment) -> dict[str, dict[str, list[str]]]:
    """Mark -> the systems of which it is stated -> their tasks on which it holds, by folder."""
    found: dict[str, dict[str, list[str]]] = {}
    for mark in MARKS:
        for name, system in experiment.systems.items():
            tasks = [task.folder for task in experiment.runs_of(system) if mark.holds(experiment, system, task)]
            if tasks or mark.stated(experiment, system):
                found.setdefault(mark.name, {})[name] = tasks
    return found
