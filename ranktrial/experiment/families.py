"""Resolves the multiple comparisons of an experiment: systems, tasks and method."""

from __future__ import annotations

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.compared_measures import common_measure
from ranktrial.experiment.comparisons import check_leaderboard
from ranktrial.experiment.named import Named
from ranktrial.experiment.records import Family, System, Task
from ranktrial.experiment.sameness import check_different, check_tasks

MOST = 50  # systems, that is 1,225 pairs; with more, figures and tables of letters are unreadable


def family(named: Named, name: str) -> Family:
    """Resolve the multiple comparison `name`.

    Raises UserError for an unknown name, fewer than two systems, a system without a run for a task, a measure that a
    task lacks, and too few permutations for alpha.
    """
    check, key = named.check, f"multiple_comparisons.{name}"
    entry = check.config.multiple_comparisons[name]
    human = [task.name for task in named.all_tasks.values() if not task.judge]
    tasks = named.tasks(f"{key}.tasks", human if entry.tasks == "all" else entry.tasks)
    if judged := next((task.name for task in tasks if task.judge), None):
        problem = "and no multiple comparison corrects its errors; name tasks that humans judge"
        raise check.fail(f"{key}.tasks", f"a language model judges {judged!r}, {problem}")
    systems = named.systems(f"{key}.systems", named.all_systems if entry.systems == "all" else entry.systems)
    control = named.system(f"{key}.against", entry.against) if entry.against is not None else None
    if control:
        systems = [control, *(system for system in systems if system is not control)]
    _check_members(check, key, systems, tasks)
    task_names = [task.name for task in tasks]
    check_tasks(check, f"{key}.tasks", task_names, named.all_tasks)
    check_leaderboard(check, f"{key}.tasks", tasks)
    check_different(check, f"{key}.systems", systems, task_names, named.all_systems)
    if (entry.permutations + 1) * entry.alpha <= 1:
        problem = f"{entry.permutations} are too few for alpha {entry.alpha:g}: no p-value could be below it"
        raise check.fail(f"{key}.permutations", problem)
    return Family(
        name,
        tuple(system.name for system in systems),
        tuple(task_names),
        common_measure(check, f"{key}.measure", entry.measure, tasks),
        control.name if control else None,
        entry.statistic,
        entry.alpha,
        entry.permutations,
        entry.title,
    )


def _check_members(check: Checker, key: str, systems: list[System], tasks: list[Task]) -> None:
    """Raise UserError unless there are several systems, not too many, and each has a run for each task."""
    if len(systems) < 2:
        raise check.fail(f"{key}.systems", f"is {systems[0].name!r} alone; expected at least two systems")
    if len(systems) > MOST:
        raise check.fail(f"{key}.systems", f"are {len(systems)} systems; expected at most {MOST}")
    for system in systems:
        for task in tasks:
            if not system.ranks(task.name):
                what = "scores" if task.values_given else "run"
                problem = f"{system.name} has no {what} for task {task.name!r}; name other systems or tasks"
                raise check.fail(key, problem)
