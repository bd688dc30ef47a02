"""Resolves the comparisons of an experiment: their tasks, statistics and shared figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ranktrial.common.keys import keys_of, stated, values_of
from ranktrial.common.near_names import hint
from ranktrial.common.plugins import NoKeys
from ranktrial.experiment.charts import CHART
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.compared_measures import measures_of
from ranktrial.experiment.dataset_schema import format_of
from ranktrial.experiment.figure_checks import check_figure
from ranktrial.experiment.judged import check_judged
from ranktrial.experiment.moderators import BUBBLE, moderators, subgroups
from ranktrial.experiment.records import Comparison, System, Task
from ranktrial.experiment.sameness import check_roles, check_tasks
from ranktrial.experiment.sections.comparison import ComparisonEntry
from ranktrial.experiment.sections.figure import INFLUENCE, QUERIES
from ranktrial.experiment.sections.synthesis import Statistics
from ranktrial.experiment.starting_points import with_starting_point
from ranktrial.statistics.effects import all_effects, effect_named, effect_source
from ranktrial.statistics.estimators import estimator_source
from ranktrial.statistics.intervals import interval_source
from ranktrial.statistics.task_intervals import (
    all_task_intervals,
    method_for,
    task_interval_named,
    task_interval_source,
)

COST_FIGURE = "cost-"  # prefix of the names of the figures that show effects against costs
CURVE_FIGURE = "curves-"  # prefix of the names of figures of a measure over the number of training queries
STUDY_FIGURE = "study-design-"  # prefix of the names of the figures that plan the next study
RESERVED = {  # prefixes of the names of other figures -> their description
    COST_FIGURE: "figures of costs",
    CHART: "charts",
    BUBBLE: "bubble plots",
    INFLUENCE: "figures of influence",
    QUERIES: "figures of queries",
    STUDY_FIGURE: "figures of study designs",
    CURVE_FIGURE: "curves over training queries",
}
# These must be equal for all comparisons in one forest plot
DRAWN_ALIKE = ("measure", "effect", "alpha", "estimator", "interval", "task_interval", "prediction")


def comparison(check: Checker, name: str, systems: dict[str, System], tasks: dict[str, Task]) -> Comparison:
    """Resolve the comparison `name`. Raises UserError for an unknown name or a task without a run or the measure."""
    key = f"comparisons.{name}"
    for beginning, what in RESERVED.items():
        if name.startswith(beginning):
            raise check.fail(key, f"names that begin with {beginning!r} are reserved for the {what}")
    entry = with_starting_point(check, f"{key}.control", check.config.comparisons[name], systems)
    check.known(f"{key}.control", entry.control, "systems")
    check.known(f"{key}.treatment", entry.treatment, "systems")
    names = _all_tasks(entry, systems, tasks) if entry.tasks == "all" else list(entry.tasks)
    other_tasks = _other_tasks(check, f"{key}.treatment_on", entry.treatment_on or {}, names, tasks)
    ranked = {task: other_tasks.get(task, task) for task in names}
    _check_runs(check, key, entry, ranked, systems, tasks)
    compared = [tasks[task] for task in names]
    check_leaderboard(check, f"{key}.tasks", compared)
    measure, measure_on = measures_of(check, key, entry, compared)
    check_statistics(check, key, entry)
    check_figure(check, key, entry)
    check_clusters(check, f"{key}.clusters", entry.clusters, compared)
    check_tasks(check, f"{key}.tasks", names, tasks)
    check_judged(check, key, entry, compared, bool(other_tasks))
    scored = all(task.values_given for task in compared)
    check_roles(check, key, (systems[entry.control], systems[entry.treatment]), ranked, systems, scored)
    return Comparison(
        name,
        entry.control,
        entry.treatment,
        tuple(names),
        statistics=replace(entry, measure=measure),
        figure=entry.figure,
        treatment_on=other_tasks,
        measure_on=measure_on,
        moderators=moderators(check, key, entry, compared),
        subgroups=subgroups(check, key, entry, compared),
        family=entry.family or "",
    )


def check_leaderboard(check: Checker, key: str, tasks: list[Task]) -> None:
    """Raise UserError if a sample of tasks (a leaderboard) would count as one task among others."""
    for task in tasks:
        if len(tasks) > 1 and format_of(check.config.datasets[task.dataset]).of_tasks:
            problem = "is a leaderboard, a sample of tasks, and cannot be combined with other tasks; compare it alone"
            raise check.fail(key, f"{task.name!r} {problem}")


def statistics_of(comparison: Comparison) -> dict[str, object]:
    """Return the statistical settings of a comparison for jobs, with the own keys of its effect and interval apart."""
    found = stated(comparison.statistics, *(keys_of(ComparisonEntry).keys() - keys_of(Statistics).keys()))
    declared = [name for name in found if name not in keys_of(Statistics)]
    own = {name: found[name] for name in declared if name in _own(comparison.statistics)}
    return {name: value for name, value in found.items() if name not in declared} | ({"own": own} if own else {})


def _own(statistics: Statistics) -> set[str]:
    """Return the keys that the effect and the interval of tasks declare."""
    effect = effect_named(statistics.effect)
    chosen = (effect, task_interval_named(method_for(statistics.task_interval, effect)))
    return {name for module in chosen for name in keys_of(getattr(module, "Keys", NoKeys))}


def _check_own(check: Checker, key: str, entry: ComparisonEntry) -> None:
    """Raise UserError if a key of another effect or interval is given, which nothing would read."""
    for one, value in values_of(entry):
        if one.name not in keys_of(ComparisonEntry).keys() | _own(entry) and value != one.default:
            modules: dict[str, Any] = {**all_effects(), **all_task_intervals()}
            readers = [name for name, module in modules.items() if one.name in keys_of(getattr(module, "Keys", NoKeys))]
            reason = (
                f"only {' and '.join(readers)} have it, and not {entry.effect} with task_interval {entry.task_interval}"
            )
            raise check.fail(f"{key}.{one.name}", reason)


def _check_runs(
    check: Checker,
    key: str,
    entry: ComparisonEntry,
    ranked: dict[str, str],
    systems: dict[str, System],
    tasks: dict[str, Task],
) -> None:
    """Raise UserError if a system would be compared with itself on a task, or lacks a run for one.

    `ranked` maps each task to the one on which the treatment is scored.
    """
    if entry.control == entry.treatment and any(task == other for task, other in ranked.items()):
        raise check.fail(key, f"control and treatment are both {entry.control!r}")
    for task, other in ranked.items():
        check.known(f"{key}.tasks", task, "tasks")
        for system, scored in ((systems[entry.control], task), (systems[entry.treatment], other)):
            if not system.ranks(scored):
                what = "scores" if tasks[scored].values_given else "run"
                raise check.fail(key, f"{system.name} has no {what} for task {scored!r}; add one or list the tasks")


def _all_tasks(entry: ComparisonEntry, systems: dict[str, System], tasks: dict[str, Task]) -> list[str]:
    """Return all tasks judged by humans, except those for which a system with a recipe per dataset has no recipe."""
    apart = [systems[name] for name in (entry.control, entry.treatment) if systems[name].recipe_of]
    human = [task for task in tasks if not tasks[task].judge]
    return [task for task in human if all(tasks[task].ranked_dataset in system.recipe_of for system in apart)]


def check_statistics(check: Checker, key: str, entry: ComparisonEntry) -> None:
    """Raise UserError for a setting that does not apply to the comparison's effect or has no effect on the figure."""
    effect, correction = effect_named(entry.effect), entry.figure.correction
    if entry.margin is not None and not effect.HAS_DIFFERENCE:
        raise check.fail(f"{key}.margin", f"effect {effect.NAME} has no difference to hold against a margin")
    if effect.HAS_DIFFERENCE and not task_interval_named(entry.task_interval).fits(effect):
        reason = f"{entry.task_interval} is not an interval for effect {effect.NAME}; expected another, such as t"
        raise check.fail(f"{key}.task_interval", reason)
    _check_own(check, key, entry)
    if correction != "none" and not effect.HAS_DIFFERENCE:
        raise check.fail(f"{key}.figure.correction", f"effect {effect.NAME} has no test of a difference")
    if correction != "none" and entry.figure.p == "interval":
        reason = "corrects the t-test's or the randomisation test's p-values, but p: interval is shown"
        raise check.fail(f"{key}.figure.correction", reason)


def check_clusters(check: Checker, key: str, clusters: str | dict[str, str], tasks: list[Task]) -> None:
    """Raise UserError unless files of clusters exist and belong to tasks of the comparison.

    Clusters by gold document also need tasks with judgements.
    """
    if isinstance(clusters, dict):
        for task, path in clusters.items():
            names = [known.name for known in tasks]
            if task not in names:
                raise check.fail(key, f"{task!r} is not among the tasks of the comparison{hint(task, names)}")
            if not Path(path).is_file():
                raise check.fail(f"{key}.{task}", f"no file {path!r}")
    if clusters == "gold-document" and (given := [task.name for task in tasks if task.values_given]):
        raise check.fail(key, f"task {given[0]!r} has values and no relevance judgements; give a file of its clusters")


def loaded_modules(comparisons: Iterable[Comparison]) -> list[str]:
    """Return the module files of the effects, estimators and intervals of comparisons."""
    files = set()
    for comparison in comparisons:
        files.add(effect_source(comparison.statistics.effect))
        files.add(estimator_source(comparison.statistics.estimator))
        files.add(interval_source(comparison.statistics.interval))
        asked = comparison.statistics.task_interval
        got = method_for(asked, effect_named(comparison.statistics.effect))
        files |= {task_interval_source(asked), task_interval_source(got)}
    return sorted(files)


def _other_tasks(
    check: Checker, key: str, other_tasks: dict[str, str], names: list[str], tasks: dict[str, Task]
) -> dict[str, str]:
    """Return task -> the task on which the treatment is scored. Raises UserError unless both have the same queries."""
    for task, other_task in other_tasks.items():
        for name in (task, other_task):
            check.known(key, name, "tasks")
        if task not in names:
            raise check.fail(key, f"{task!r} is not among the tasks of the comparison{hint(task, names)}")
        if task == other_task:
            raise check.fail(key, f"{task!r} is mapped to itself; expected another task")
        if list(other_tasks.values()).count(other_task) > 1:
            raise check.fail(key, f"{other_task!r} is given for two tasks: its queries would count twice")
        datasets = {name: check.config.datasets[name] for name in (tasks[task].dataset, tasks[other_task].dataset)}
        corpora = {dataset.corpus or dataset.changed_from or name for name, dataset in datasets.items()}
        if len(corpora) > 1 or tasks[task].split != tasks[other_task].split:
            problem = "must be the same split of datasets that share a corpus, or their queries are not the same"
            raise check.fail(key, f"{task!r} and {other_task!r} {problem}")
    return other_tasks


def drawn_together(check: Checker, comparisons: dict[str, Comparison]) -> dict[str, tuple[str, ...]]:
    """Return figure name -> the comparisons that it shows: one control with several treatments.

    Raises UserError if a figure has the name of a comparison or if its comparisons cannot share a figure.
    """
    groups: dict[str, list[Comparison]] = {}
    for comparison in comparisons.values():
        if comparison.figure.together:
            groups.setdefault(comparison.figure.together, []).append(comparison)
    for name, group in groups.items():
        first = group[0]
        if name in comparisons or name.startswith(tuple(RESERVED)):
            what = "the name of a comparison" if name in comparisons else "a name of other figures"
            raise check.fail(f"comparisons.{first.name}.figure.together", f"{name!r} is {what}")
        for comparison in group[1:]:
            key = f"comparisons.{comparison.name}.figure.together"
            differ = [
                setting
                for setting in DRAWN_ALIKE
                if getattr(first.statistics, setting) != getattr(comparison.statistics, setting)
            ]
            differ += [name for name in ("control", "family") if getattr(first, name) != getattr(comparison, name)]
            if differ:
                raise check.fail(key, f"cannot be drawn with {first.name}: they differ in {', '.join(differ)}")
    return {name: tuple(comparison.name for comparison in group) for name, group in groups.items()}


def cost_figures(comparisons: dict[str, Comparison], timed: set[str]) -> dict[str, tuple[str, ...]]:
    """Return figure name (without its prefix) -> the comparisons whose effects it shows against costs.

    Each control has one figure. If its comparisons differ in measure, effect, level or tasks, it has several figures,
    whose names also contain that of their first comparison. Only `timed` systems are shown, each treatment once.
    """
    groups: dict[tuple[str, tuple[Any, ...]], dict[str, Comparison]] = {}
    effects = {comparison.statistics.effect for comparison in comparisons.values()}
    with_difference = {effect for effect in effects if effect_named(effect).HAS_DIFFERENCE}
    for comparison in comparisons.values():
        has_difference = comparison.statistics.effect in with_difference
        if comparison.treatment in timed and has_difference and not comparison.treatment_on:
            how = comparison.statistics
            of_figure = (how.measure, how.effect, how.alpha, comparison.tasks)
            groups.setdefault((comparison.control, of_figure), {}).setdefault(comparison.treatment, comparison)
    controls = [control for control, _ in groups]
    figures = {}
    for (control, _), group in groups.items():
        shown = len(group) + 1 if control in timed else len(group)
        if shown > 1:
            several = controls.count(control) > 1
            name = f"{control}-{next(iter(group.values())).name}" if several else control
            figures[name] = tuple(comparison.name for comparison in group.values())
    return figures
