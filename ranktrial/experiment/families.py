"""Resolves the multiple comparisons of an experiment, and finds the comparisons that count as one hypothesis.

One hypothesis is that two systems do not differ in a measure on some tasks, tested in one way. MD, SMD and d_av are
scales of one hypothesis, and so is a comparison with control and treatment exchanged. A correlation with a gold
standard is another hypothesis. Another interval, other weights or other assumptions count as a further one: among
several, that with the smallest p may be chosen after a look. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable

from ranktrial.configuration.checker import Checker
from ranktrial.experiment.comparisons import check_different, check_leaderboard, check_tasks, common_measure
from ranktrial.experiment.records import Comparison, Experiment, Family, System, Task
from ranktrial.experiment.tasks import Named
from ranktrial.statistics.effects import effect_named

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


WAYS = ("estimator", "interval", "task_interval", "small_tasks", "seeds", "dependence", "ddof")  # of testing it


def tested(comparison: Comparison) -> Hashable:
    """Return the hypothesis of a comparison and the way in which it is tested as a key."""
    sides = {
        (system, frozenset(comparison.treatment_on.items()) if system == comparison.treatment else frozenset())
        for system in (comparison.control, comparison.treatment)
    }
    statistics = comparison.statistics
    difference = effect_named(statistics.effect).HAS_DIFFERENCE
    way = *(getattr(statistics, name) for name in WAYS), str(statistics.clusters)
    return frozenset(sides), statistics.measure, frozenset(comparison.tasks), difference, way


def repeated(experiment: Experiment) -> dict[str, str]:
    """Return comparison -> the first of its family with the same hypothesis; the first ones are left out."""
    first: dict[Hashable, str] = {}
    found = {}
    for name, comparison in experiment.comparisons.items():
        of_family = first.setdefault((comparison.family, tested(comparison)), name)
        if of_family != name:
            found[name] = of_family
    return found


def families(experiment: Experiment) -> dict[str, str]:
    """Return comparison -> its family, for those that name one."""
    return {name: comparison.family for name, comparison in experiment.comparisons.items() if comparison.family}
