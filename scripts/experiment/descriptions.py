"""Descriptions of systems, for the report."""

from __future__ import annotations

import itertools
from dataclasses import replace

from scripts.experiment.charts import model_names
from scripts.experiment.records import Experiment, System
from scripts.experiment.sections.recipe import Recipe
from scripts.experiment.system_kinds import behind, system_kind, takes
from scripts.experiment.systems._export import export_text
from scripts.experiment.systems._model_settings import of_model
from scripts.experiment.teachers import teaching_models


def describe(experiment: Experiment, system: System) -> str:
    """What a system is: its kind, model, training and candidates."""
    return system_kind(system).describe(experiment, system)


def datasets_learnt(experiment: Experiment, system: System, dataset: str) -> list[str]:
    """The datasets on which what ranks a dataset's tasks was trained: a system's recipe and those that it starts from.

    One without a model has learnt what the systems have that it takes, and what its kind says of itself.
    """
    if system.choice:  # of whichever recipe it is
        learnt = [datasets_learnt(experiment, experiment.systems[name], dataset) for name in system.choice.members]
        return list(dict.fromkeys(itertools.chain(*learnt)))
    if system.model is None:
        learnt = [datasets_learnt(experiment, experiment.systems[name], dataset) for name in takes(system)]
        own = system_kind(system).learnt_on(experiment, system, dataset)
        return list(dict.fromkeys(itertools.chain(own, *learnt)))
    chain = experiment.chain(system.recipe_on(dataset)).values()
    own = [name for recipe in chain for name in recipe.datasets]
    return list(dict.fromkeys([*own, *system_kind(system).learnt_on(experiment, system, dataset)]))  # and its teachers


def is_unstated(experiment: Experiment, system: System) -> bool:
    """Whether a model behind a system has published weights of which nobody states what they were trained on."""
    if system.choice:
        return any(is_unstated(experiment, experiment.systems[name]) for name in system.choice.members)
    members = behind(system, experiment.systems)
    recipes = {recipe for member in members for recipe in member.recipes}
    of_training = (teaching_models(experiment.recipes, experiment.systems, recipe) for recipe in recipes)
    models = {member.model for member in members if member.model}.union(*of_training)
    return any(experiment.models[name].trained_on is None for name in models)


def for_times(experiment: Experiment, system: System) -> dict[str, str]:
    """Where a system stands in the tables of times: model, candidates, long texts, recipe, column, a note."""
    kind = system_kind(system)
    model = model_names(experiment.models)[system.model] if system.model else system.label
    if exported := export_text(of_model(system).export):
        model += f" ({exported})"
    place = {
        "model": model,
        "candidates": kind.candidates(system),
        "texts": "passages" if system.passage_length else "",
    }
    if system.recipe_of:
        place |= {"recipe": system.name, "column": f"{system.name} (each task's own)"}
    elif system.recipes:
        place |= {"recipe": system.recipe, "column": training_columns(experiment)[system.recipe]}
    elif column := kind.training_column(system):
        place |= {"recipe": system.name, "column": column}
    note = kind.note_on_times(system)
    return place | ({"note": note} if note else {})


def training_columns(experiment: Experiment) -> dict[str, str]:
    """The column of each recipe in the table of fine-tuning times.

    Recipes that differ only in where their negatives are from take the same time and share one, named after their
    dataset, or after themselves where others learn from it too.
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
