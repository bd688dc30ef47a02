"""Resolution of an experiment from its configuration: all names are looked up, and the seeds of systems determined.

Errors between sections (an unknown name, keys of two system types in one entry) raise UserError before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import equal_recipes
from ranktrial.experiment.charts import chart
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.checks import (
    check_datasets,
    check_labels,
    check_mapping,
    check_measures,
    check_name,
    check_published,
    check_recipes,
)
from ranktrial.experiment.choosing import take_apart
from ranktrial.experiment.comparisons import comparison, drawn_together
from ranktrial.experiment.curves import check_figures as check_curve_figures
from ranktrial.experiment.curves import curves
from ranktrial.experiment.families import family
from ranktrial.experiment.feature_sets import feature_set
from ranktrial.experiment.figure_checks import check_axes, lower_is_better
from ranktrial.experiment.judged import check_judges
from ranktrial.experiment.languages import check_sentences
from ranktrial.experiment.leakage import check_leaks
from ranktrial.experiment.location_checks import check_secrets
from ranktrial.experiment.matrices import matrix
from ranktrial.experiment.mining import check_mining
from ranktrial.experiment.mining import check_names as check_mined_names
from ranktrial.experiment.model_cards import with_cards
from ranktrial.experiment.model_checks import check_models
from ranktrial.experiment.moderators import check_figures
from ranktrial.experiment.named import Named
from ranktrial.experiment.printed_places import check_places
from ranktrial.experiment.prompts_of_tasks import check_instructions
from ranktrial.experiment.reading import complete, configuration
from ranktrial.experiment.records import Experiment, Task
from ranktrial.experiment.study_plans import study_plans
from ranktrial.experiment.system_resolution import resolve_systems
from ranktrial.experiment.system_types import system_type
from ranktrial.experiment.tasks import resolve_tasks
from ranktrial.experiment.teachers import check_names as check_teachers

# Keys that an experiment takes unchanged from the configuration.
AS_GIVEN = (
    *("measures", "depth", "seed", "mirrors", "shards", "device", "kernels", "explorer", "word_pieces", "font"),
    *("timing", "datasets", "models", "recipes", "published", "references", "actor"),
)


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
    check_leaks(check, experiment)
    check_mining(check, experiment)
    check_sentences(check, experiment)
    check_instructions(check, experiment)
    return experiment


def _check_sections(check: Checker, entries: dict[str, list[str]], origins: dict[tuple[str, str], str]) -> None:
    """Check the sections, and keep each training once; `entries` maps entries to the systems made from them."""
    if check.config.word_pieces:
        check.known("word_pieces", check.config.word_pieces, "models")
    for check_section in (check_name, check_datasets, check_models, check_recipes, check_measures, check_published):
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
    check_figures(check, comparisons)
    check_axes(check, comparisons)
    drawn_curves = {name: curves(named, name) for name in given.curves}
    check_curve_figures(check, drawn_curves, tasks)
    return Experiment(
        name=given.experiment,
        systems=systems,
        tasks=tasks,
        selection_tasks=further_tasks,
        comparisons=comparisons,
        figures=drawn_together(check, comparisons),
        families={name: family(named, name) for name in given.multiple_comparisons},
        charts={name: chart(named, name) for name in given.charts},
        entries=named.entries,
        lower_is_better=lower_is_better(check, tasks),
        study=study_plans(check, comparisons),
        features={name: feature_set(named, name) for name in given.features},
        matrices={name: matrix(named, name) for name in given.matrices},
        curves=drawn_curves,
        **{key: getattr(given, key) for key in AS_GIVEN},
    )


def _train_once(check: Checker) -> None:
    """Keep each training once, under the name of the first equal recipe, which systems then refer to."""
    recipes, systems = check.config.recipes, check.config.systems
    stands_for = equal_recipes.once(recipes)
    kept = {name: recipe for name, recipe in recipes.items() if stands_for[name] == name}
    check.config = replace(
        check.config,
        recipes={name: equal_recipes.restarted(recipe, stands_for) for name, recipe in kept.items()},
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
