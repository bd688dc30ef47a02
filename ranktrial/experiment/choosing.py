"""Choices on dev: of a recipe among those that fan-out made from one entry (`choose`), and of the seed of a system.

A system that names the entry remains one system. Each recipe of the entry becomes a further system, a member, which
ranks only the dev queries, as the system itself would. The system ranks with the weights of the best member. They are
stored under a separate recipe, named after the entry and the system, since another system may choose another recipe.

The seed of a system used on other datasets is the one with the best score on a task, often a dev split. On the tasks of
that task's dataset, all seeds run; on all others only the selected one, under the name `selected`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ranktrial.common.keys import JsonObject, stated
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.dataset_keys import format_of
from ranktrial.configuration.sections.configuration import SelectSeed
from ranktrial.configuration.sections.recipe import Choose, RecipeChoice
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.recipe_checks import check_measure
from ranktrial.experiment.records import Experiment, Selection, System, Task
from ranktrial.experiment.tasks import add_task, resolve_task


def take_apart(check: Checker, origins: dict[tuple[str, str], str]) -> None:
    """Add to the configuration the members of each system that chooses, and the recipe that it ranks with.

    Raises UserError if there is only one recipe to choose from, or if the choice is impossible.
    """
    recipes, systems = check.config.recipes, check.config.systems
    entries: dict[str, list[str]] = {}
    for name in recipes:
        entries.setdefault(origins["recipes", name], []).append(name)
    choosing = {entry: names for entry, names in entries.items() if recipes[names[0]].choose}
    wanted = {entry: _choice(check, entry, names) for entry, names in choosing.items()}
    for name in list(systems):
        entry = getattr(systems[name], "recipe", None)
        if isinstance(entry, str) and entry in choosing:
            _add_members(check, name, entry, choosing[entry], wanted[entry])


def _choice(check: Checker, entry: str, names: list[str]) -> RecipeChoice:
    """Return the choice among the recipes of an entry, without members yet; remove `choose` from the recipes."""
    key, recipes = f"recipes.{entry}.choose", check.config.recipes
    asked = recipes[names[0]].choose or Choose()
    for name in names:
        recipes[name] = replace(recipes[name], choose=None)
    if len(names) == 1:
        raise check.fail(key, "there is one recipe and nothing to choose among; give a list in place of a value")
    datasets = list(dict.fromkeys(dataset for name in names for dataset in recipes[name].datasets))
    if len(datasets) > 1:
        problem = f"its recipes learn from {' and '.join(datasets)}; a choice is among those of one dataset"
        raise check.fail(key, problem)
    task = asked.task or f"{datasets[0]}/dev"
    check_measure(check, f"{key}.measure", asked.measure)
    found = resolve_task(Checker(check.config, f"{check.source}: {key}"), task)
    if not found.has_documents or found.runs_of:
        raise check.fail(f"{key}.task", f"{task} is ranked by no system; expected a dataset with documents")
    return RecipeChoice(task, found.dataset, found.split, asked.measure, entry, ())


def _add_members(check: Checker, name: str, entry: str, names: list[str], wanted: RecipeChoice) -> None:
    recipes, systems = check.config.recipes, cast(dict[str, Any], check.config.systems)
    own = f"{entry}-chosen-by-{name}"
    members = {f"{name}-{recipe.removeprefix(entry).removeprefix('-')}": recipe for recipe in names}
    for taken, section in ((own, "recipes"), *((member, "systems") for member in members)):
        if taken in getattr(check.config, section):
            raise check.fail(
                f"systems.{name}.recipe", f"{section} have {taken!r} already, a name that the choice needs"
            )
    chooser = systems[name]
    for member, recipe in members.items():
        label = f"{chooser.label} ({member.removeprefix(f'{name}-')})" if chooser.label else None
        systems[member] = replace(chooser, label=label, recipe=recipe, tasks=(), select_seed=None)
    recipes[own] = replace(recipes[names[0]], chosen=replace(wanted, members=tuple(members)))
    systems[name] = replace(chooser, recipe=own)


def recipe_choice(check: Checker, recipe: object) -> RecipeChoice | None:
    """Return the choice that determines a system's recipe, or None."""
    found = check.config.recipes.get(recipe) if isinstance(recipe, str) else None
    return found.chosen if found else None


def ranked_to_choose(
    check: Checker, systems: dict[str, System], tasks: dict[str, Task], further: dict[str, Task]
) -> list[tuple[str, Task]]:
    """Return the members of all choices, each with the task that decides; these tasks are added to `further`."""
    return [
        (member, add_task(check, f"recipes.{system.choice.recipe}.choose", system.choice.task, tasks, further))
        for system in systems.values()
        if system.choice
        for member in system.choice.members
    ]


def members_of_choices(experiment: Experiment) -> set[str]:
    """Return the systems that exist only for a choice."""
    return {member for system in experiment.systems.values() if system.choice for member in system.choice.members}


def as_text(experiment: Experiment, choice: RecipeChoice) -> str:
    """Return the description of the chosen recipe, for the description of a system."""
    words = f"that of the recipes {', '.join(_recipes(experiment, choice))}"
    words += f" which has the highest {choice.measure} on {choice.task}"
    return words + (" (a test set: for reproduction only)" if choice.split == "test" else "")


def provenance(experiment: Experiment, choice: RecipeChoice) -> JsonObject:
    """Return the metadata of the choice for the archive."""
    among = {recipe: stated(experiment.recipes[recipe]) for recipe in _recipes(experiment, choice)}
    return {"chosen": {"by": choice.measure, "on": choice.task}, "among": among}


def _recipes(experiment: Experiment, choice: RecipeChoice) -> list[str]:
    return list(dict.fromkeys(experiment.systems[name].recipe for name in choice.members))


WANTED = "select_seed needs 'task' (such as DATASET/dev) or 'by' (another system that selects), and not both"


def selection(check: Checker, name: str, recipe: object, settings: SelectSeed | None) -> Selection | None:
    """Return the selection by a system's `select_seed` with a `task`, or None. Raises UserError if it is invalid."""
    key = f"systems.{name}.select_seed"
    if settings is None:
        return None
    if bool(settings.task) == bool(settings.by):
        raise check.fail(key, WANTED)
    if settings.task is None:
        return None
    dataset, _, split = settings.task.partition("/")
    check.known(f"{key}.task", dataset, "datasets")
    dataset_entry = check.config.datasets[dataset]
    if not format_of(dataset_entry).has_documents:
        raise check.fail(f"{key}.task", f"{dataset} has format {dataset_entry.format}: nothing can be searched there")
    check_split(check, f"{key}.task", dataset, split or "test")
    score = settings.score or {"R@1": 3, "R@3": 2, "R@5": 1}
    for measure in score:
        check.computable(f"{key}.score", measure)
    return Selection(settings.task, dataset, split or "test", score, name)


def share_selections(check: Checker, systems: dict[str, System]) -> dict[str, System]:
    """Return the systems; those that select `by` another system get the selection of that system.

    The other system may be named as in the file. If it was fanned out, model, recipe and seeds identify it.
    """
    shared = dict(systems)
    for name, system in systems.items():
        asked: SelectSeed | None = getattr(check.config.systems[name], "select_seed", None)
        if asked is None or asked.by is None:
            continue
        by = asked.by
        own = (system.model, system.recipe, system.seeds)
        alike = [
            candidate
            for candidate in systems.values()
            if candidate.selection and (candidate.model, candidate.recipe, candidate.seeds) == own
        ]
        exact = [candidate for candidate in alike if candidate.name == by]
        matches = exact or [candidate for candidate in alike if candidate.name.startswith(f"{by}-")]
        if len(matches) != 1:
            problem = f"{by!r} is not exactly one system with select_seed.task and the same model, recipe and seeds"
            raise check.fail(f"systems.{name}.select_seed.by", problem)
        shared[name] = replace(system, selection=matches[0].selection)
    return shared
