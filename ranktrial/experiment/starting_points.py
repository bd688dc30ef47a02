"""The control `starting-point`: the system with the checkpoint from which the treatment's training starts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import UNTRAINED, System
from ranktrial.experiment.sections.comparison import ComparisonEntry

STARTING_POINT = "starting-point"


def with_starting_point(
    check: Checker, key: str, entry: ComparisonEntry, systems: dict[str, System]
) -> ComparisonEntry:
    """Return a comparison's entry with the actual control; comparisons with the same control are drawn together."""
    if entry.control != STARTING_POINT:
        return entry
    control, figure = starting_point(check, key, entry, systems), entry.figure
    if figure.together:
        figure = replace(figure, together=f"{figure.together}-{control}")
    return replace(entry, control=control, figure=figure)


def starting_point(check: Checker, key: str, entry: ComparisonEntry, systems: dict[str, System]) -> str:
    """Return the system that the treatment starts from. Raises UserError if no system ranks with these checkpoints."""
    check.known(key.replace("control", "treatment"), entry.treatment, "systems")
    treatment = systems[entry.treatment]
    if not treatment.recipes:
        raise check.fail(key, f"{STARTING_POINT} is of a trained system, but {treatment.name} has no recipe")
    ranks = way_of_ranking(treatment)
    for system in systems.values():
        if way_of_ranking(system) == ranks and _is_start(check, system, treatment):
            return system.name
    starts = ", ".join(str(before) for before in dict.fromkeys(_starts(check, treatment).values()))
    raise check.fail(key, f"no system ranks as {treatment.name} does with what its training starts from: {starts}")


def way_of_ranking(system: System) -> tuple[Any, ...]:
    """Return a key that is equal for systems that rank in the same way with different checkpoints."""
    return system.type, system.model, system.first_stage, system.depth, system.passage_length, system.truncate_dim


def _starts(check: Checker, system: System) -> dict[str, str]:
    """Return dataset ("" if one recipe serves all) -> the recipe from which the system's training starts."""
    recipes = check.config.recipes
    trained = system.recipe_of or {"": system.recipe}
    return {dataset: recipes[recipe].start_from or UNTRAINED for dataset, recipe in trained.items()}


def _is_start(check: Checker, system: System, treatment: System) -> bool:
    starts = _starts(check, treatment)
    if "" in starts:
        return not system.recipe_of and system.recipe == starts[""]
    if system.recipe_of:
        return all(system.recipe_of.get(dataset) == before for dataset, before in starts.items())
    return set(starts.values()) == {system.recipe}
