"""The measure of a comparison: one for all tasks or, with `measure_on`, one per task; reads nothing."""

from __future__ import annotations

from ranktrial.common.near_names import hint
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import Task
from ranktrial.experiment.sections.comparison import ComparisonEntry
from ranktrial.experiment.sections.synthesis import FIRST
from ranktrial.ir.measure_names import same_measure
from ranktrial.statistics.effects import effect_named


def measures_of(check: Checker, key: str, entry: ComparisonEntry, tasks: list[Task]) -> tuple[str, dict[str, str]]:
    """Return the name of a comparison's measure and, if tasks have different measures, that of each task.

    Raises UserError for a measure that a task lacks, and for different measures that are not comparable.
    """
    if not entry.measure_on:
        return common_measure(check, f"{key}.measure", entry.measure, tasks), {}
    key = f"{key}.measure_on"
    for task in entry.measure_on:
        names = [compared.name for compared in tasks]
        if task not in names:
            raise check.fail(key, f"{task!r} is not among the tasks of the comparison{hint(task, names)}")
    chosen = {
        task.name: common_measure(check, f"{key}.{task.name}", entry.measure_on.get(task.name, entry.measure), [task])
        for task in tasks
    }
    different = list(dict.fromkeys(chosen.values()))
    if len(different) == 1:
        return different[0], {}
    _check_comparable(check, key, entry, different)
    return f"{', '.join(different[:-1])} and {different[-1]}", chosen


def _check_comparable(check: Checker, key: str, entry: ComparisonEntry, measures: list[str]) -> None:
    """Raise UserError unless effects on different measures have one scale and the same sign favours one system."""
    listed = ", ".join(measures)
    if effect_named(entry.effect).IN_UNITS_OF_MEASURE:
        problem = f"effect {entry.effect} is in units of the measure, and these are {listed}; expected one that is not"
        raise check.fail(key, f"{problem}, such as SMD")
    lower = [measure for measure in measures if measure in check.config.lower_is_better]
    if lower and len(lower) < len(measures):
        raise check.fail(
            key, f"a lower value is better for {lower[0]}, but not for all of {listed}; compare them separately"
        )
    if entry.margin is not None:
        raise check.fail(key, f"a margin is a difference in one measure, and these are {listed}; leave one of both out")
    if entry.figure.queries:
        raise check.fail(key, f"figure.queries shows differences in one measure, and these are {listed}; leave it out")


def common_measure(check: Checker, key: str, name: str, tasks: list[Task]) -> str:
    """Return the experiment's name of a measure that all tasks have, given under any of its ir-measures names.

    FIRST is the first measure of the first task.
    """
    name = tasks[0].measures[0] if name == FIRST else name
    listed_on: dict[str, str] = {}
    for task in tasks:
        comparable = [measure for measure in task.measures if measure == name or not task.values_given]
        listed = same_measure(name, comparable)
        if listed is None:
            what = f"the measures of task {task.name!r}" if task.values_given else "measures"
            problem = f"{name!r} is not among {what}: {list(task.measures)}{hint(name, task.measures)}"
            only = f"; write measure: {task.measures[0]}" if task.values_given and len(task.measures) == 1 else ""
            raise check.fail(key, problem + only)
        listed_on[listed] = task.name
    if len(listed_on) > 1:
        listed_names = " and ".join(f"{listed!r} on task {task!r}" for listed, task in listed_on.items())
        raise check.fail(key, f"{name!r} is {listed_names}; give it one name")
    return next(iter(listed_on))
