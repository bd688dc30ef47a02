"""Recipes with `choose`: the best on dev of the recipes that fan-out made from one entry ranks the tasks.

A system that names the entry remains one system. Each recipe of the entry becomes a further system, a member, which
ranks only the dev queries, as the system itself would. The system ranks with the weights of the best member. They are
stored under a separate recipe, named after the entry and the system, since another system may choose another recipe.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ranktrial.common.keys import JsonObject, stated
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.choice_record import RecipeChoice
from ranktrial.experiment.evaluation_checks import check_measure
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.sections.recipe import Choose
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
