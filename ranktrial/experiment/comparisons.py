"""Resolves the comparisons and multiple comparisons of an experiment: their tasks, measures, statistics and figures.

A comparison has one measure for all tasks or, with `measure_on`, one per task. No system is compared with itself, and
no queries count twice because two tasks have them.

One hypothesis is that two systems do not differ in a measure on some tasks, tested in one way. MD, SMD and d_av are
scales of one hypothesis, and so is a comparison with control and treatment exchanged. A correlation with a gold
standard is another hypothesis. Another interval, other weights or other assumptions count as a further one: among
several, that with the smallest p may be chosen after a look. Reads and writes nothing.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ranktrial.common.keys import keys_of, stated
from ranktrial.common.plugins import NoKeys
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.sections.comparison import ComparisonEntry, Figure, MultipleComparison
from ranktrial.experiment.datasets import same_queries
from ranktrial.experiment.exhibits import reserved
from ranktrial.experiment.judged import check_judged
from ranktrial.experiment.moderators import moderators, subgroups
from ranktrial.experiment.records import Comparison, Experiment, System, Task
from ranktrial.experiment.system_types import system_type, takes
from ranktrial.experiment.systems.external import column_of, files_of
from ranktrial.experiment.tasks import Named
from ranktrial.experiment.trainings import with_starting_point
from ranktrial.ir.measure_names import same_measure
from ranktrial.ir.scores import has_several_tasks
from ranktrial.statistics.effects import effect_named, effect_source
from ranktrial.statistics.estimators import estimator_source
from ranktrial.statistics.intervals import interval_source
from ranktrial.statistics.method import FIRST, Statistics
from ranktrial.statistics.task_intervals import (
    method_for,
    task_interval_named,
    task_interval_source,
)


def measures_of(check: Checker, key: str, entry: ComparisonEntry, tasks: list[Task]) -> tuple[str, dict[str, str]]:
    """Return the name of a comparison's measure and, if tasks have different measures, that of each task.

    Raises UserError for a measure that a task lacks, and for different measures that are not comparable.
    """
    if not entry.measure_on:
        return common_measure(check, f"{key}.measure", entry.measure, tasks), {}
    key = f"{key}.measure_on"
    for task in entry.measure_on:
        _check_among(check, key, task, tasks)
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


ON_ONE_AXIS = ("measure", "effect")  # must be equal for all comparisons whose figures share an axis


def check_figure(check: Checker, key: str, entry: ComparisonEntry) -> None:
    """Raise UserError for limits, ticks or further figures that cannot be drawn."""
    figure, effect = entry.figure, effect_named(entry.effect)
    key = f"{key}.figure"
    if figure.limits:
        _check_limits(check, key, figure, around_zero=effect.HAS_DIFFERENCE)


def _check_limits(check: Checker, key: str, figure: Figure, around_zero: bool) -> None:
    """Raise UserError unless the limits of the axis fit its ticks and include 0 if differences are shown."""
    limits = list(figure.limits or ())
    if limits[0] >= limits[1]:
        raise check.fail(f"{key}.limits", f"{limits}: expected the lower limit first")
    if around_zero and not limits[0] <= 0 <= limits[1]:
        raise check.fail(f"{key}.limits", f"{limits}: expected limits around 0, which is no difference")
    for tick in figure.ticks or ():
        if not limits[0] <= tick <= limits[1]:
            raise check.fail(f"{key}.ticks", f"{tick:g} lies outside the limits {limits}")


def check_axes(check: Checker, comparisons: Mapping[str, Comparison]) -> None:
    """Raise UserError if comparisons whose figures share an axis differ in measure or effect."""
    first: dict[str, Comparison] = {}
    for comparison in comparisons.values():
        if axis := comparison.figure.axis:
            other = first.setdefault(axis, comparison)
            sides = (other.statistics, comparison.statistics)
            differ = [name for name in ON_ONE_AXIS if len({getattr(side, name) for side in sides}) > 1]
            if differ:
                problem = f"no axis for {other.name} as well: they differ in {', '.join(differ)}"
                raise check.fail(f"comparisons.{comparison.name}.figure.axis", problem)


def lower_is_better(check: Checker, tasks: Mapping[str, Task]) -> tuple[str, ...]:
    """Return the measures for which lower is better, as tasks name them. Raises UserError for an unknown measure."""
    found: dict[str, None] = {}
    for name in check.config.lower_is_better:
        of_tasks = [name if task.values_given else same_measure(name, task.measures) for task in tasks.values()]
        known = [
            listed for listed, task in zip(of_tasks, tasks.values(), strict=True) if listed and listed in task.measures
        ]
        if not known:
            listed_measures = list(dict.fromkeys(measure for task in tasks.values() for measure in task.measures))
            raise check.fail(
                "lower_is_better", f"{name!r} is not among the measures: {listed_measures}{hint(name, listed_measures)}"
            )
        found |= dict.fromkeys(known)
    return tuple(found)


Place = tuple[tuple[str, ...], str | None, str | None]


def check_tasks(check: Checker, key: str, names: list[str], tasks: dict[str, Task]) -> None:
    """Raise UserError if two tasks of a comparison have the same queries."""
    for first, second in itertools.combinations(names, 2):
        parts = [(check.config.datasets[tasks[name].dataset], tasks[name].split) for name in (first, second)]
        if same_queries(*parts):
            problem = "have the same queries, which would count twice: the same data in the same words; leave one out"
            raise check.fail(key, f"{first!r} and {second!r} {problem}")


def check_roles(
    check: Checker,
    key: str,
    pair: tuple[System, System],
    ranked: dict[str, str],
    systems: dict[str, System],
    scored: bool,
) -> None:
    """Raise UserError if control and treatment are the same system, by all their settings or files.

    `ranked` maps each task to the one on which the treatment is scored. If values are given (`scored`), two tasks must
    not have the same files either. Runs may share a file, since it may contain the queries of several tasks.
    """
    control, treatment = pair
    if not system_type(control).computed and not system_type(treatment).computed:
        files = {task: (_place(control, task), _place(treatment, other)) for task, other in ranked.items()}
        # The same file for only some of the tasks is allowed: the comparison then reports no effect there.
        if all(of_control == of_treatment for of_control, of_treatment in files.values()):
            same = f"control and treatment have the same file for each task: {', '.join(ranked)}"
            raise check.fail(key, f"{same}; where a file has a column per system, each system names its `column`")
        seen: dict[tuple[Place, Place], str] = {}
        for task, pair_of_files in files.items() if scored else ():
            first = seen.setdefault(pair_of_files, task)
            if first != task:
                problem = "have the same files of scores for control and treatment, whose samples would count twice"
                raise check.fail(f"{key}.tasks", f"{first!r} and {task!r} {problem}")
    elif control.name != treatment.name and any(task == other for task, other in ranked.items()):
        alike = _identity(check, control, systems) == _identity(check, treatment, systems)
        if alike:
            problem = "are one system under two names: all their settings are the same"
            raise check.fail(key, f"control {control.name!r} and treatment {treatment.name!r} {problem}")


def check_different(
    check: Checker, key: str, members: list[System], tasks: list[str], systems: dict[str, System]
) -> None:
    """Raise UserError if two systems are the same, by all their settings or by their files for these tasks."""
    first: dict[str, System] = {}
    for system in members:
        if system_type(system).computed:
            made_of = _identity(check, system, systems)
        else:
            made_of = json.dumps([_place(system, task) for task in tasks])
        same = first.setdefault(made_of, system)
        if same is not system:
            raise check.fail(key, f"{same.name!r} and {system.name!r} are one system under two names")


def _place(system: System, task: str) -> Place:
    """Return the files of an external system's run or scores of a task, and column and task if these have several."""
    files = files_of(system, task)
    part = task if any(has_several_tasks(Path(file), task) for file in files) else None
    return tuple(map(os.path.realpath, files)), column_of(system), part


def _identity(check: Checker, system: System, systems: dict[str, System]) -> str:
    """Return all settings on which a system's runs depend, as text."""
    made_of: dict[str, object] = {"type": system.type, **system_type(system).identity(check.config, system)}
    made_of["takes"] = [_identity(check, systems[name], systems) for name in takes(system)]
    return json.dumps(made_of, sort_keys=True)


# These must be equal for all comparisons in one forest plot
DRAWN_ALIKE = ("measure", "effect", "alpha", "estimator", "interval", "task_interval", "prediction")


def comparison(check: Checker, name: str, systems: dict[str, System], tasks: dict[str, Task]) -> Comparison:
    """Resolve the comparison `name`. Raises UserError for an unknown name or a task without a run or the measure."""
    key = f"comparisons.{name}"
    for beginning, what in reserved().items():
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
    _check_gains(check, key, entry, systems, compared)
    check_roles(check, key, (systems[entry.control], systems[entry.treatment]), ranked, systems, scored)
    return Comparison(
        name,
        entry.control,
        entry.treatment,
        tuple(names),
        statistics=replace(entry, measure=measure),
        figure=entry.figure,
        treatment_on=other_tasks,
        gain_over=entry.gain_over or {},
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


def _check_gains(
    check: Checker, key: str, entry: ComparisonEntry, systems: dict[str, System], tasks: list[Task]
) -> None:
    """Raise UserError unless both have a gain over a system of its own, with runs for these tasks and as many seeds."""
    key, over = f"{key}.gain_over", entry.gain_over
    if over is None:
        return
    if set(over) != {entry.control, entry.treatment} or len({*over, *over.values()}) != 4:
        problem = f"expected {entry.control} and {entry.treatment}, each with a system of its own that is neither"
        raise check.fail(key, f"{over}: {problem}")
    if not effect_named(entry.effect).IN_UNITS_OF_MEASURE:
        raise check.fail(key, f"differences of differences have no effect {entry.effect}; expected MD")
    if entry.treatment_on or any(task.judge for task in tasks):
        raise check.fail(key, "not valid with treatment_on, or where a language model judges")
    for name, base in over.items():
        check.known(f"{key}.{name}", base, "systems")
        counts = {len(systems[one].seeds) for one in (name, base)}
        if len(counts - {1}) > 1:
            raise check.fail(f"{key}.{name}", f"{name} and {base} have different numbers of seeds; expected the same")
        if lacking := [task.name for task in tasks if not systems[base].ranks(task.name)]:
            raise check.fail(f"{key}.{name}", f"{base} has no run for task {lacking[0]!r}; add one or list the tasks")


def _all_tasks(entry: ComparisonEntry, systems: dict[str, System], tasks: dict[str, Task]) -> list[str]:
    """Return all tasks judged by humans, except those for which a system with a recipe per dataset has no recipe."""
    apart = [systems[name] for name in (entry.control, entry.treatment) if systems[name].recipe_of]
    human = [task for task in tasks if not tasks[task].judge]
    return [task for task in human if all(tasks[task].ranked_dataset in system.recipe_of for system in apart)]


def check_statistics(check: Checker, key: str, entry: ComparisonEntry) -> None:
    """Raise UserError for a setting that does not apply to the comparison's effect or has no effect on the figure."""
    effect = effect_named(entry.effect)
    if effect.HAS_DIFFERENCE and not task_interval_named(entry.task_interval).fits(effect):
        reason = f"{entry.task_interval} is not an interval for effect {effect.NAME}; expected another, such as t"
        raise check.fail(f"{key}.task_interval", reason)


def _check_among(check: Checker, key: str, task: str, tasks: list[Task]) -> None:
    names = [compared.name for compared in tasks]
    if task not in names:
        raise check.fail(key, f"{task!r} is not among the tasks of the comparison{hint(task, names)}")


def check_clusters(check: Checker, key: str, clusters: str | dict[str, str], tasks: list[Task]) -> None:
    """Raise UserError unless files of clusters exist and belong to tasks of the comparison.

    Clusters by gold document also need tasks with judgements.
    """
    if isinstance(clusters, dict):
        for task, path in clusters.items():
            _check_among(check, key, task, tasks)
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
        if name in comparisons or name.startswith(tuple(reserved())):
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


MOST = 50  # systems, that is 1,225 pairs; with more, figures and tables of letters are unreadable


def family(named: Named, name: str) -> MultipleComparison:
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
    return replace(
        entry,
        systems=tuple(system.name for system in systems),
        tasks=tuple(task_names),
        measure=common_measure(check, f"{key}.measure", entry.measure, tasks),
        against=control.name if control else None,
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
        (
            system,
            comparison.gain_over.get(system),
            frozenset(comparison.treatment_on.items()) if system == comparison.treatment else frozenset(),
        )
        for system in (comparison.control, comparison.treatment)
    }
    statistics = comparison.statistics
    difference = effect_named(statistics.effect).HAS_DIFFERENCE
    way = *(getattr(statistics, name) for name in WAYS), str(statistics.clusters)
    measures = frozenset(comparison.measure_on.items()) or statistics.measure
    return frozenset(sides), measures, frozenset(comparison.tasks), difference, way


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
