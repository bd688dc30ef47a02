"""The trainings behind recipes: their epochs, recipes that are trained once, stages, and the control `starting-point`.

`epochs` may be a mapping {32: 32, 128: 8, all: 1}. A recipe then trains for the epochs of the largest listed number
that is not above its `queries`; below the smallest number, those of the smallest apply, and all queries need the entry
`all`. The recipe keeps only the resulting number, so that equal trainings have equal settings however they were
written. A recipe that trains on a sample also keeps the rule as text, for the report.

Recipes that are equal in all relevant settings, including their starting point, are trained once, as the first one. A
study may thus have `queries: [32, 128, all]` besides a recipe with all queries, and the checkpoints that both need are
trained once. The number of samples is irrelevant if no sample is drawn.

The stages behind a recipe are the chain of trainings that starts from a model's own weights. Sources, pseudo-labels and
few-shot training are identified by these chains, not by the names of recipes. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import UNTRAINED, System
from ranktrial.experiment.sections.comparison import ComparisonEntry
from ranktrial.experiment.sections.recipe import BM25 as BM25
from ranktrial.experiment.sections.recipe import GENERATED, Recipe

RULE = "epochs_rule"  # the key of the rule as text; not a setting of training
ALL = "all"


def with_text_keys(config: JsonObject, source: str) -> JsonObject:
    """Return the configuration with numbers of queries as text, like all other keys.

    Raises UserError if the numbers are not in ascending order. Keys that are text already are not checked, since the
    JSON settings of a job sort them.
    """
    recipes = config.get("recipes")
    if not isinstance(recipes, dict) or not any(_by_size(entry) for entry in recipes.values()):
        return config
    with_text = {}
    for name, entry in recipes.items():
        with_text[name] = entry
        if _by_size(entry):
            where = f"{source}: recipes.{name}.epochs"
            numbers = [size for size in entry["epochs"] if isinstance(size, int)]
            if any(first >= second for first, second in pairwise(numbers)):
                raise UserError(
                    f"{where}: {', '.join(map(str, numbers))} do not rise; write the numbers of queries rising"
                )
            made = {str(size) if type(size) is int else size: value for size, value in entry["epochs"].items()}
            if len(made) < len(entry["epochs"]):
                raise UserError(f"{where}: a number of queries is listed twice, as a number and as text")
            with_text[name] = entry | {"epochs": made}
    return {**config, "recipes": with_text}


def _by_size(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("epochs"), dict)


def settle_epochs(config: dict[str, Any], source: str) -> None:
    """Set the epochs of each recipe of a valid configuration to those of its number of queries. Raises UserError."""
    for name, entry in config.get("recipes", {}).items():
        if isinstance(entry["epochs"], dict):
            by_size = entry["epochs"]
            entry["epochs"] = epochs_of(by_size, entry["queries"], f"{source}: recipes.{name}.epochs")
            if entry["queries"] != ALL:
                entry[RULE] = epochs_text(by_size)
        if entry["queries"] == ALL:  # there is only one sample
            entry |= {"samples": 1, "sampling": "nested"}


def epochs_of(by_size: dict[str, float], queries: int | str, where: str) -> float:
    """Return the epochs for a number of training queries. Raises UserError, with a message that begins with `where`."""
    in_order = _in_order(by_size)
    for (smaller, more), (larger, fewer) in pairwise(in_order):
        if fewer > more:
            problem = f"{where}: rise from {more:g} at {smaller} to {fewer:g} at {larger}"
            raise UserError(f"{problem}; expected no more epochs for more queries")
    if queries == ALL:
        if ALL not in by_size:
            raise UserError(f"{where}: has no entry all, but the recipe learns from all queries; add one")
        return by_size[ALL]
    listed = [(int(size), epochs) for size, epochs in in_order if size != ALL]
    if not listed:
        raise UserError(f"{where}: has no number of queries, but the recipe learns from {queries}; add one")
    fitting = [epochs for size, epochs in listed if size <= int(queries)]
    return fitting[-1] if fitting else listed[0][1]


def epochs_text(by_size: dict[str, float]) -> str:
    """Return the rule as text, such as `32 epochs from 32 queries, 8 from 128, 1 with all`."""
    words: list[str] = []
    for size, epochs in _in_order(by_size):
        unit = "" if words else (" epoch" if epochs == 1 else " epochs")
        queries = " queries" if not words and size != ALL else ""
        words.append(f"{epochs:g}{unit} " + (f"with {ALL}" if size == ALL else f"from {size}{queries}"))
    return ", ".join(words)


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


def _in_order(by_size: dict[str, float]) -> list[tuple[str, float]]:
    """Return the entries by ascending number, `all` last."""
    return sorted(by_size.items(), key=lambda entry: float("inf") if entry[0] == ALL else int(entry[0]))


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
