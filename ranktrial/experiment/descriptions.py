"""Descriptions of systems, for the report."""

from __future__ import annotations

import itertools
from dataclasses import replace

from ranktrial.experiment.charts import model_names
from ranktrial.experiment.records import Experiment, System
from ranktrial.experiment.sections.recipe import Recipe
from ranktrial.experiment.system_types import behind, system_type, takes
from ranktrial.experiment.systems._export import export_text
from ranktrial.experiment.systems._model_settings import of_model
from ranktrial.experiment.teachers import teaching_models


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
