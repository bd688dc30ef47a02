"""Resolution of an experiment from its configuration: all names are looked up, and the seeds of systems determined.

Errors between sections (an unknown name, keys of two system types in one entry) raise UserError before anything runs.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ranktrial.common.files import lines
from ranktrial.common.keys import JsonObject
from ranktrial.common.projection import shared
from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.location_checks import check_secrets
from ranktrial.configuration.reading import complete, configuration
from ranktrial.configuration.sections.comparison import Assumed, Designs, Plan, Study
from ranktrial.configuration.sections.configuration import Unchanged
from ranktrial.experiment import exhibits, trainings
from ranktrial.experiment.checks import (
    check_datasets,
    check_keys,
    check_labels,
    check_mapping,
    check_measures,
    check_name,
    check_published,
    check_recipes,
)
from ranktrial.experiment.choosing import ranked_to_choose, share_selections, take_apart
from ranktrial.experiment.comparisons import check_axes, comparison, drawn_together, family, lower_is_better
from ranktrial.experiment.datasets import check_sentences
from ranktrial.experiment.features import feature_set
from ranktrial.experiment.judged import check_judges
from ranktrial.experiment.leakage import check_leaks
from ranktrial.experiment.mining import check_mined_names, check_mining, ranked_to_mine
from ranktrial.experiment.model_checks import check_instructions, check_models, with_cards
from ranktrial.experiment.recipe_checks import check_teachers
from ranktrial.experiment.records import Comparison, Experiment, StudyPlans, System, Task
from ranktrial.experiment.system_types import system_type, takes
from ranktrial.experiment.tasks import Named, add_task, resolve_tasks
from ranktrial.experiment.transfer import curves, matrix
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.method import Statistics

ALPHA = 0.05  # for assumed variances; a comparison has its own, with this default


def study_plans(check: Checker, comparisons: dict[str, Comparison]) -> StudyPlans:
    """Return the plans of a configuration; without `plan_study`, one per comparison with a difference in one measure.

    Raises UserError for an unknown comparison or one without a difference, two targets, or a power not above alpha.
    """
    study = check.config.plan_study or Study()
    plans = {}
    for name in _comparisons(check, study, comparisons):
        statistics = comparisons[name].statistics
        plans[name] = _plan(study, study.alpha or statistics.alpha, margin=_margin(statistics))
    for name, assumed in (study.assumed or {}).items():
        if name in plans:
            raise check.fail(
                f"plan_study.assumed.{name}", "is the name of a comparison that is planned; choose another"
            )
        plans[name] = _plan(study, study.alpha or ALPHA, assumed=assumed)
    for plan in plans.values():
        if plan.power <= plan.alpha:
            problem = f"{plan.power:g} is what chance alone gives at alpha {plan.alpha:g}; expected more"
            raise check.fail("plan_study.power", problem)
    return StudyPlans(check.config.plan_study is not None, plans)


def _comparisons(check: Checker, study: Study, comparisons: dict[str, Comparison]) -> list[str]:
    asked = study.comparisons or (() if study.assumed else "all")
    with_difference = [
        name for name, found in comparisons.items() if effect_named(found.statistics.effect).HAS_DIFFERENCE
    ]
    of_one_measure = [name for name in with_difference if not comparisons[name].measure_on]
    of_systems = [name for name in of_one_measure if not comparisons[name].gain_over]
    if asked == "all":
        return of_systems
    for name in asked:
        check.known("plan_study.comparisons", name, "comparisons")
        if name not in with_difference:
            effect = comparisons[name].statistics.effect
            raise check.fail("plan_study.comparisons", f"{name} has effect {effect}: there is no difference to detect")
        if name not in of_one_measure:
            raise check.fail("plan_study.comparisons", f"{name} has a measure per task (measure_on); expected one")
        if name not in of_systems:
            raise check.fail("plan_study.comparisons", f"{name} compares gains (gain_over); expected two systems")
    return list(asked)


def _margin(statistics: Statistics) -> float | None:
    """Return the comparison's margin if its effect is in units of the measure, as the smallest effect of interest."""
    return statistics.margin if effect_named(statistics.effect).IN_UNITS_OF_MEASURE else None


def _plan(study: Study, alpha: float, margin: float | None = None, assumed: Assumed | None = None) -> Plan:
    """Return the plan; the margin is the target if the configuration gives none."""
    sizes = {name: tuple(sorted(getattr(study, name))) for name in ("queries", "collections", "seeds")}
    effect = study.effect if study.effect or study.half_width else margin
    given = shared(study, Designs) | sizes | {"effect": effect}
    return Plan(**given, alpha=alpha, assumed=assumed)


def resolve_systems(check: Checker, tasks: dict[str, Task]) -> tuple[dict[str, System], dict[str, Task]]:
    """Return the systems by name, and the further tasks: for selection, tuning, training or mining.

    Raises UserError for conflicts within a system or between systems and tasks. A task that uses the runs of another is
    not ranked itself: the runs of each system that ranks the other task are scored there too.
    """
    every, tasks = tasks, {name: task for name, task in tasks.items() if not task.runs_of}
    systems = {}
    for name, entry in check.config.systems.items():
        systems[name] = system_type(entry).resolve(check, name, entry, tasks)
    systems = share_selections(check, systems)
    further = _selection_tasks(check, systems, tasks)
    order = _takers_last(check, systems)
    for name in order:
        systems[name] = system_type(systems[name]).with_seeds(check, systems[name], systems)
        system_type(systems[name]).check(check, systems[name], tasks)
        _check_documents(check, systems[name], tasks)
    _check_runs(check, systems, tasks)
    _add_tuning_tasks(check, systems, tasks, further, order)
    return {name: _scored_again(check, system, every) for name, system in systems.items()}, further


def _scored_again(check: Checker, system: System, tasks: dict[str, Task]) -> System:
    """Return the system with the tasks that use its runs. Raises UserError if it names only such a task."""
    if system.tasks is None:
        return system
    ranked = {(tasks[name].dataset, tasks[name].split): name for name in system.tasks}
    again = {
        task.name: ranked[task.runs_of, task.split]
        for task in tasks.values()
        if task.runs_of and (task.runs_of, task.split) in ranked
    }
    for name in system.tasks:
        if tasks[name].runs_of and name not in again:
            problem = f"{name!r} takes the runs of {tasks[name].runs_of}; name that task, and this one follows"
            raise check.fail(f"systems.{system.name}.tasks", problem)
    names = dict.fromkeys([*system.tasks, *again])
    return replace(system_type(system).scored_again(system, again), tasks=tuple(names))


def _takers_last(check: Checker, systems: dict[str, System]) -> list[str]:
    """Return the names of the systems, each after those whose runs it takes. Raises UserError for a cycle."""
    order: list[str] = []
    open_names: list[str] = []

    def visit(name: str) -> None:
        if name in open_names:
            circle = " -> ".join([*open_names[open_names.index(name) :], name])
            raise check.fail(f"systems.{name}", f"refers to itself: {circle}")
        if name not in order:
            open_names.append(name)
            for taken in takes(systems[name]):
                visit(taken)
            open_names.pop()
            order.append(name)

    for name in systems:
        visit(name)
    return order


def _selection_tasks(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> dict[str, Task]:
    """Return the tasks on which seeds are selected and that are not in `tasks`."""
    further: dict[str, Task] = {}
    for system in systems.values():
        if system.selection:
            add_task(check, f"systems.{system.name}.select_seed.task", system.selection.task, tasks, further)
    return further


def _check_documents(check: Checker, system: System, tasks: dict[str, Task]) -> None:
    """Raise UserError if a system that needs documents has a task without them."""
    for task in tasks.values():
        if system_type(system).needs_documents and system.ranks(task.name) and not task.has_documents:
            message = f"needs documents, but task {task.name!r} has format {task.format}: external systems only"
            raise check.fail(f"systems.{system.name}", message)


def _check_runs(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> None:
    """Raise UserError unless the systems that a system takes have runs for all tasks that it ranks."""
    for system in systems.values():
        for name in takes(system):
            for task in tasks:
                if system.ranks(task) and not systems[name].ranks(task):
                    raise check.fail(f"systems.{system.name}", f"{_role(system, name)} has no run for {task}")


def _add_tuning_tasks(
    check: Checker, systems: dict[str, System], tasks: dict[str, Task], further: dict[str, Task], order: list[str]
) -> None:
    """Add the tasks of tuning, mining and selection to `further`; check that all systems taken have runs there.

    The systems that a system takes need its further runs as well, so each system is visited before those that it takes.
    """
    needed: dict[str, dict[str, Task]] = {name: {} for name in systems}
    to_choose = ranked_to_choose(check, systems, tasks, further)
    for name, task in [*ranked_to_mine(check, systems, tasks, further), *to_choose]:
        needed[name][task.name] = task
    for name in reversed(order):
        system = systems[name]
        if system.selection and system.selection.by == name:
            task = add_task(check, f"systems.{name}.select_seed.task", system.selection.task, tasks, further)
            needed[name][task.name] = task
        ranked = {task.name: task for task in tasks.values() if system.ranks(task.name)}
        for tuning in system_type(system).tuned_on(check, system, ranked | needed[name]):
            task = add_task(check, f"systems.{name}.tune", tuning, tasks, further)
            needed[name][task.name] = task
        for taken in takes(system):
            needed[taken] |= needed[name]
            for task_name in needed[name]:
                if not system_type(systems[taken]).computed and not systems[taken].ranks(task_name):
                    raise check.fail(f"systems.{name}", f"{_role(system, taken)} has no run for {task_name}")


def _role(system: System, taken: str) -> str:
    return f"its first stage {taken}" if taken == system.first_stage else f"its system {taken}"


def check_places(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> None:
    """Raise UserError for a row with a comparison, system, task or dataset that the experiment lacks.

    A file of numbers (without a mapping) has one row per number; docs/archive.md describes its columns.
    """
    published = check.config.published
    if published is None or published.mapping:
        return
    path = Path(published.file)
    numbered = [(number, line) for number, line in lines(path) if not line.startswith("#")]
    rows = csv.DictReader((line for _, line in numbered), delimiter="\t", quoting=csv.QUOTE_NONE)
    if not {"comparison", "task", "system"} <= set(rows.fieldnames or []):
        return  # the job that reads the file reports the missing column
    folders = {task.folder: task.name for task in tasks.values()}
    for (number, _), row in zip(numbered[1:], rows, strict=False):
        comparison, task, system = (row.get(name) or "" for name in ("comparison", "task", "system"))
        unknown, meant = None, ""
        if comparison and comparison not in check.config.comparisons:
            unknown = f"comparison {comparison!r}"
            meant = hint(comparison, check.config.comparisons)
        elif system and system not in systems:
            unknown = f"system {system!r}"
            meant = hint(system, systems)
        elif (comparison or system) and task and task not in folders:
            unknown = f"task {task!r}"
            meant = hint(task, folders)
        elif system and not systems[system].ranks(folders[task]):
            unknown = f"run of {system!r} on {task!r}"
        elif not comparison and not system and task.partition("/")[0] not in check.config.datasets:
            unknown = f"dataset {task.partition('/')[0]!r}"
        if unknown:
            raise check.fail("published.file", f"{path}:{number}: there is no {unknown} in this experiment{meant}")


def resolve(config: JsonObject, source: str) -> Experiment:
    """Complete, check and resolve a configuration; `source` (its file name) begins each message of a UserError."""
    check_secrets(config, source)  # first, since other messages quote values
    completed, origins = complete(config, source)
    check = Checker(configuration(completed, source), source, origins)
    entries: dict[str, list[str]] = {}
    for name in check.config.systems:
        entries.setdefault(origins["systems", name], []).append(name)
    _check_sections(check, entries, origins)
    tasks = resolve_tasks(check)
    systems, further_tasks = resolve_systems(check, tasks)
    experiment = _experiment(Named(check, entries, systems, tasks), further_tasks)
    for system in systems.values():
        system_type(system).check_experiment(check, system, experiment)
    exhibits.check_all(check, experiment)
    check_leaks(check, experiment)
    check_mining(check, experiment)
    check_sentences(check, experiment)
    check_instructions(check, experiment)
    return experiment


def _check_sections(check: Checker, entries: dict[str, list[str]], origins: dict[tuple[str, str], str]) -> None:
    """Check the sections, and keep each training once; `entries` maps entries to the systems made from them."""
    if check.config.word_pieces:
        check.known("word_pieces", check.config.word_pieces, "models")
    for check_section in (
        check_name,
        check_keys,
        check_datasets,
        check_models,
        check_recipes,
        check_measures,
        check_published,
    ):
        check_section(check)
    check.config = replace(check.config, models=with_cards(check.config.models, check.config.datasets))
    take_apart(check, origins)
    _train_once(check)
    check_mined_names(check, entries)
    check_teachers(check, entries)
    check_mapping(check, entries)


def _experiment(named: Named, further_tasks: dict[str, Task]) -> Experiment:
    """Return the experiment with the resolved systems and tasks."""
    check, systems, tasks, given = named.check, named.all_systems, named.all_tasks, named.check.config
    check_judges(check, named.entries, systems)
    check_places(check, systems, tasks)
    check_labels(check, {name: system.label for name, system in systems.items()}, "systems")
    check_labels(check, {name: task.label for name, task in tasks.items()}, "tasks")
    comparisons = {name: comparison(check, name, systems, tasks) for name in given.comparisons}
    check_axes(check, comparisons)
    of_curves = {name: curves(named, name) for name in given.curves}
    return Experiment(
        **shared(given, Unchanged) | {"lower_is_better": lower_is_better(check, tasks)},
        systems=systems,
        tasks=tasks,
        selection_tasks=further_tasks,
        comparisons=comparisons,
        figures=drawn_together(check, comparisons),
        families={name: family(named, name) for name in given.multiple_comparisons},
        exhibits=exhibits.resolved(named),
        entries=named.entries,
        study=study_plans(check, comparisons),
        features={name: feature_set(named, name) for name in given.features},
        matrices={name: matrix(named, name) for name in given.matrices},
        curves=of_curves,
        explorer=given.explorer,
    )


def _train_once(check: Checker) -> None:
    """Keep each training once, under the name of the first equal recipe, which systems then refer to."""
    recipes, systems = check.config.recipes, check.config.systems
    stands_for = trainings.trained_once(recipes)
    kept = {name: recipe for name, recipe in recipes.items() if stands_for[name] == name}
    check.config = replace(
        check.config,
        recipes={name: trainings.restarted(recipe, stands_for) for name, recipe in kept.items()},
        systems={name: _renamed(entry, stands_for) for name, entry in systems.items()},
    )


def _renamed(entry: Any, stands_for: Mapping[str, str]) -> Any:
    """Return a system's entry with the new name of its recipe, or of its recipe for each dataset."""
    recipe = getattr(entry, "recipe", None)
    if isinstance(recipe, str):
        return replace(entry, recipe=stands_for.get(recipe, recipe))
    if recipe and recipe.each:
        each = {dataset: stands_for.get(one, one) for dataset, one in recipe.each.items()}
        return replace(entry, recipe=replace(recipe, each=each))
    return entry
