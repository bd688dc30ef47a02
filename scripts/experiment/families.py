"""Resolves the multiple comparisons of an experiment: which systems are compared at once, on which tasks, and how."""

from __future__ import annotations

from scripts.experiment.checker import Checker
from scripts.experiment.compared_measures import common_measure
from scripts.experiment.comparisons import check_leaderboard
from scripts.experiment.records import Family, System, Task
from scripts.experiment.sameness import check_different, check_tasks
from scripts.experiment.sections.comparison import MultipleComparison

MOST = 50  # systems: 1,225 pairs, beyond which no figure and no table of letters is read


def family(
    check: Checker, name: str, entries: dict[str, list[str]], systems: dict[str, System], tasks: dict[str, Task]
) -> Family:
    """Resolve the multiple comparison `name`; `entries` are the systems that each entry became.

    Raises UserError for an unknown name, fewer than two systems, a system without a run for a task, a measure that a
    task lacks, and too few permutations for alpha.
    """
    entry, key = check.config.multiple_comparisons[name], f"multiple_comparisons.{name}"
    human = [task for task in tasks if not tasks[task].judge]
    task_names = human if entry.tasks == "all" else list(entry.tasks)
    for task in task_names:
        check.known(f"{key}.tasks", task, "tasks")
        if tasks[task].judge:
            problem = "whose errors no multiple comparison holds; name tasks that humans judge"
            raise check.fail(f"{key}.tasks", f"a language model judges {task!r}, {problem}")
    members = list(systems) if entry.systems == "all" else _members(check, f"{key}.systems", entry, entries)
    if (control := entry.against) is not None:
        control = _control(check, f"{key}.against", control, entries)
        members = list(dict.fromkeys([control, *members]))
    if len(members) < 2:
        raise check.fail(f"{key}.systems", f"is {members[0]!r} alone; expected at least two systems")
    if len(members) > MOST:
        raise check.fail(f"{key}.systems", f"are {len(members)} systems; expected at most {MOST}")
    for system in members:
        for task in task_names:
            if not systems[system].ranks(task):
                what = "scores" if tasks[task].values_given else "run"
                raise check.fail(key, f"{system} has no {what} for task {task!r}; name other systems or tasks")
    check_tasks(check, f"{key}.tasks", task_names, tasks)
    check_leaderboard(check, f"{key}.tasks", [tasks[task] for task in task_names])
    check_different(check, f"{key}.systems", [systems[member] for member in members], task_names, systems)
    if (entry.permutations + 1) * entry.alpha <= 1:
        problem = f"{entry.permutations} are too few for alpha {entry.alpha:g}: no p-value could be below it"
        raise check.fail(f"{key}.permutations", problem)
    compared = [tasks[task] for task in task_names]
    return Family(
        name,
        tuple(members),
        tuple(task_names),
        common_measure(check, f"{key}.measure", entry.measure, compared),
        control,
        entry.statistic,
        entry.alpha,
        entry.permutations,
        entry.title,
    )


def _members(check: Checker, key: str, entry: MultipleComparison, entries: dict[str, list[str]]) -> list[str]:
    """The systems that are named, by their own names or those of the entries that they were made from."""
    for name in entry.systems:
        if name not in entries:
            check.known(key, name, "systems")
    return list(dict.fromkeys(system for name in entry.systems for system in entries.get(name, [name])))


def _control(check: Checker, key: str, name: str, entries: dict[str, list[str]]) -> str:
    if name not in entries:
        check.known(key, name, "systems")
    became = entries.get(name, [name])
    if len(became) > 1:
        raise check.fail(key, f"{name} became {len(became)} systems; name one of them")
    return became[0]
