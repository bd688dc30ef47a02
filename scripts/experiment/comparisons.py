"""The comparisons of an experiment, resolved: which tasks each one is on, and which are drawn in one figure."""

from __future__ import annotations

from collections.abc import Iterable

from scripts.experiment.charts import CHART
from scripts.experiment.checker import Checker
from scripts.experiment.records import Comparison, System, Task
from scripts.experiment.sameness import check_roles, check_tasks
from scripts.ir.measure_names import same_measure
from scripts.synthesis.effects import effect_named, effect_source
from scripts.synthesis.estimators import estimator_source
from scripts.synthesis.intervals import interval_source

COST_FIGURE = "cost-"  # how the names of the figures begin that set effects against costs
DRAWN_ALIKE = ("measure", "effect", "alpha", "estimator", "interval")  # what one forest plot has one of


def comparison(check: Checker, name: str, systems: dict[str, System], tasks: dict[str, Task]) -> Comparison:
    """Resolve the comparison `name`. Raises UserError for an unknown name, and for a task without a run or measure."""
    entry, key = check.config["comparisons"][name], f"comparisons.{name}"
    for beginning, what in ((COST_FIGURE, "figures of costs"), (CHART, "charts")):
        if name.startswith(beginning):
            raise check.fail(key, f"names that begin with {beginning!r} are those of the {what}")
    for role in ("control", "treatment"):
        check.known(f"{key}.{role}", entry[role], "systems")
    names = list(tasks) if entry["tasks"] == "all" else entry["tasks"]
    other_tasks = _other_tasks(check, f"{key}.treatment_on", entry.get("treatment_on", {}), names, tasks)
    if entry["control"] == entry["treatment"] and not set(names) <= set(other_tasks):
        raise check.fail(key, f"control and treatment are both {entry['control']!r}")
    for task in names:
        check.known(f"{key}.tasks", task, "tasks")
        for role, ranked in (("control", task), ("treatment", other_tasks.get(task, task))):
            system = systems[entry[role]]
            if not system.ranks(ranked):
                what = "scores" if tasks[ranked].values_given else "run"
                raise check.fail(key, f"{system.name} has no {what} for task {ranked!r}; add one or list the tasks")
    measure = _measure(check, f"{key}.measure", entry["measure"], [tasks[task] for task in names])
    check_statistics(check, key, entry)
    check_tasks(check, f"{key}.tasks", names, tasks)
    scored = all(tasks[task].values_given for task in names)
    ranked = {task: other_tasks.get(task, task) for task in names}
    check_roles(check, key, (systems[entry["control"]], systems[entry["treatment"]]), ranked, systems, scored)
    apart = ("control", "treatment", "tasks", "figure", "same", "treatment_on")
    statistics = {k: v for k, v in entry.items() if k not in apart} | {"measure": measure}
    roles = {"control": entry["control"], "treatment": entry["treatment"], "treatment_on": other_tasks}
    return Comparison(name, tasks=tuple(names), settings=statistics, figure=entry["figure"], **roles)


def _measure(check: Checker, key: str, name: str, tasks: list[Task]) -> str:
    """The comparison's measure as the experiment lists it; any of ir-measures' names of it may be given."""
    found: dict[str, str] = {}
    for task in tasks:
        comparable = [listed for listed in task.measures if listed == name or not task.values_given]
        listed = same_measure(name, comparable)
        if listed is None:
            what = f"the measures of task {task.name!r}" if task.values_given else "measures"
            raise check.fail(key, f"{name!r} is not among {what}: {list(task.measures)}")
        found[listed] = task.name
    if len(found) > 1:
        said = " and ".join(f"{listed!r} on task {task!r}" for listed, task in found.items())
        raise check.fail(key, f"{name!r} is {said}; give it one name")
    return next(iter(found))


def check_statistics(check: Checker, key: str, entry: dict) -> None:
    """What is asked for has a meaning for the comparison's effect, and is shown."""
    effect, correction = effect_named(entry["effect"]), entry["figure"]["correction"]
    if entry.get("margin") is not None and not effect.HAS_DIFFERENCE:
        raise check.fail(f"{key}.margin", f"effect {effect.NAME} has no difference to hold against a margin")
    if correction != "none" and not effect.HAS_DIFFERENCE:
        raise check.fail(f"{key}.figure.correction", f"effect {effect.NAME} has no test of a difference")
    if correction != "none" and entry["figure"]["p"] == "interval":
        message = "corrects the t-test's or the randomisation test's p-values, but p: interval is shown"
        raise check.fail(f"{key}.figure.correction", message)


def loaded_modules(comparisons: Iterable[Comparison]) -> list[str]:
    """The files, below scripts/, of the effect types, estimators and intervals that jobs on comparisons load."""
    files = set()
    for each in comparisons:
        files.add(effect_source(each.settings["effect"]))
        files.add(estimator_source(each.settings["estimator"]))
        files.add(interval_source(each.settings["interval"]))
    return sorted(file.removeprefix("scripts/") for file in files)


def _other_tasks(check: Checker, key: str, others: dict, names: list[str], tasks: dict[str, Task]) -> dict[str, str]:
    """The tasks on which the treatment is scored instead, which must have the same documents and judged queries."""
    for task, other in others.items():
        for name in (task, other):
            check.known(key, name, "tasks")
        if task not in names:
            raise check.fail(key, f"{task!r} is not among the tasks of the comparison")
        if task == other:
            raise check.fail(key, f"{task!r} is given itself; another task is wanted")
        if list(others.values()).count(other) > 1:
            raise check.fail(key, f"{other!r} stands for two tasks: its queries would count twice")
        datasets = [tasks[name].dataset for name in (task, other)]
        corpora = {check.config["datasets"][one].get("corpus", one) for one in datasets}
        if len(corpora) > 1 or tasks[task].split != tasks[other].split:
            said = "must be the same split of datasets that share a corpus, or their queries are not the same"
            raise check.fail(key, f"{task!r} and {other!r} {said}")
    return others


def drawn_together(check: Checker, comparisons: dict[str, Comparison]) -> dict[str, tuple[str, ...]]:
    """Figure name -> the comparisons that it shows, of one control against several treatments.

    Raises UserError where a figure's name is that of a comparison, or its comparisons do not fit in one figure.
    """
    groups: dict[str, list[Comparison]] = {}
    for one in comparisons.values():
        if "together" in one.figure:
            groups.setdefault(one.figure["together"], []).append(one)
    for name, group in groups.items():
        first = group[0]
        if name in comparisons or name.startswith((COST_FIGURE, CHART)):
            what = "the name of a comparison" if name in comparisons else "a name of other figures"
            raise check.fail(f"comparisons.{first.name}.figure.together", f"{name!r} is {what}")
        for other in group[1:]:
            key = f"comparisons.{other.name}.figure.together"
            differ = [k for k in DRAWN_ALIKE if first.settings[k] != other.settings[k]]
            differ += ["control"] if first.control != other.control else []
            if differ:
                raise check.fail(key, f"cannot be drawn with {first.name}: they differ in {', '.join(differ)}")
    return {name: tuple(one.name for one in group) for name, group in groups.items()}


def cost_figures(comparisons: dict[str, Comparison], timed: set[str]) -> dict[str, tuple[str, ...]]:
    """Figure name (without its beginning) -> the comparisons whose effects it sets against costs.

    One figure for each control, or several, then named after their first comparison too, where its comparisons differ
    in what they measure or on which tasks; only `timed` systems are in it, each treatment once.
    """
    groups: dict[tuple, dict[str, Comparison]] = {}
    for each in comparisons.values():
        has_difference = effect_named(each.settings["effect"]).HAS_DIFFERENCE
        if each.treatment in timed and has_difference and not each.treatment_on:
            key = (each.control, *(each.settings[name] for name in ("measure", "effect", "alpha")), each.tasks)
            groups.setdefault(key, {}).setdefault(each.treatment, each)
    controls = [control for control, *_ in groups]
    found = {}
    for (control, *_), group in groups.items():
        if len(group) + (control in timed) > 1:
            several = controls.count(control) > 1
            name = f"{control}-{next(iter(group.values())).name}" if several else control
            found[name] = tuple(one.name for one in group.values())
    return found
