"""The trainings behind recipes: recipes that are trained once, stages, and the control `starting-point`.

Recipes that are equal in all relevant settings, including their starting point, are trained once, as the first one. A
study may thus have `queries: [32, 128, all]` besides a recipe with all queries, and the checkpoints that both need are
trained once. The number of samples is irrelevant if no sample is drawn.

The stages behind a recipe are the chain of trainings that starts from a model's own weights. Sources, pseudo-labels and
few-shot training are identified by these chains, not by the names of recipes. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.comparison import ComparisonEntry
from ranktrial.configuration.sections.recipe import ALL, GENERATED, Recipe
from ranktrial.configuration.sections.recipe import BM25 as BM25
from ranktrial.experiment.records import UNTRAINED, System


def size_text(recipe: Recipe) -> str:
    """Return a description of a settled recipe's samples, their size, and its epochs with the rule.

    Empty if it has only one sample and no rule.
    """
    if recipe.samples == 1 and not recipe.epochs_rule:
        return ""
    words = f" ({recipe.queries} queries"
    if recipe.samples > 1:
        words += f", {recipe.samples} {recipe.sampling} samples"
    words += f", epochs: {recipe.epochs:g}"
    return words + (f" by the rule {recipe.epochs_rule})" if recipe.epochs_rule else ")")


def trained_once(recipes: Mapping[str, Recipe]) -> dict[str, str]:
    """Return the name of each recipe of a checked configuration -> that of the first recipe with the same training."""
    first: dict[Recipe, str] = {}  # relevant settings -> the first recipe with them
    stands_for: dict[str, str] = {}
    for name in _starts_first(recipes):
        matters = _what_matters(restarted(recipes[name], stands_for))
        stands_for[name] = first.setdefault(matters, name)
    return stands_for


def restarted(recipe: Recipe, stands_for: Mapping[str, str]) -> Recipe:
    """Return the recipe with its starting point replaced by the first equal recipe."""
    start = recipe.start_from
    return replace(recipe, start_from=stands_for.get(start, start)) if start else recipe


def _what_matters(recipe: Recipe) -> Recipe:
    """Return the recipe without the settings that do not change the training."""
    recipe = replace(recipe, epochs_rule=None)
    if recipe.queries == "all":
        recipe = replace(recipe, samples=1, sampling="nested")
    return recipe if recipe.start_from else replace(recipe, start_seed="same")


def _starts_first(recipes: Mapping[str, Recipe]) -> list[str]:
    """Return the recipes in order, each after the one that it starts from, unless that is unknown or in a cycle."""
    order: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        before = recipes[name].start_from
        if before and before in recipes and before not in order and before not in above:
            visit(before, (*above, before))
        order.setdefault(name)

    for name in recipes:
        visit(name, (name,))
    return list(order)


HUMAN = "human"
PERMUTED = "permuted"
SCRATCH, PSEUDO_LABELS = "scratch", "pseudo-labels"


class Stage(NamedTuple):
    """One training: its dataset, labels, and number of queries."""

    dataset: str
    labels: str
    queries: int | str
    beside: tuple[str, ...] = ()  # further datasets of the same training

    @property
    def datasets(self) -> tuple[str, ...]:
        """All datasets of the training."""
        return (self.dataset, *self.beside)


Chain = tuple[Stage, ...]


def chain(recipes: Mapping[str, Recipe], recipe: str | None) -> Chain:
    """Return the trainings behind a recipe, in order; empty for a model without training."""
    if recipe is None or recipe not in recipes:
        return ()
    entry = recipes[recipe]
    first, *others = entry.datasets
    stage = Stage(first, entry.labels, entry.queries, tuple(others))
    return (*chain(recipes, entry.start_from), stage)


def called(stages: Chain, target: str | None = None, labels: Mapping[str, str] | None = None) -> str:
    """Return a chain as text, as a starting point on `target`: scratch, pseudo-labels, or its training datasets.

    `labels` maps datasets to labels; without them, the names in the configuration are used.
    """
    if not stages:
        return SCRATCH
    return ", then ".join(_stage(stage, target, labels or {}) for stage in stages)


def _stage(stage: Stage, target: str | None, labels: Mapping[str, str]) -> str:
    name = " + ".join(labels.get(dataset, dataset) for dataset in stage.datasets)
    if stage.labels == PERMUTED:
        name = f"permuted labels of {name}"
    elif stage.labels == GENERATED:
        name = f"generated queries of {name}"
    elif stage.labels != HUMAN:
        name = PSEUDO_LABELS if stage.datasets == (target,) else f"{PSEUDO_LABELS} of {name}"
    return name if stage.queries == ALL else f"{name} ({stage.queries} queries)"


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
    problem = f"no system ranks as {treatment.name} does with what its training starts from: {starts}"
    raise check.fail(key, f"{problem}; expected one, or treatments without {treatment.name}")


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
