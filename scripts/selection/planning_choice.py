"""What the jobs that choose a recipe are given: paths and settings, from the experiment and the wildcards of
rules/selection.smk.
"""

from __future__ import annotations

import itertools

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment, RecipeChoice, System, Task
from ranktrial.experiment.results_paths import path


def choosers(experiment: Experiment) -> dict[str, System]:
    """The systems that choose, by the recipe that they rank with."""
    return {system.recipe: system for system in experiment.systems.values() if system.choice}


def runs(experiment: Experiment, recipe: str) -> list[str]:
    """The runs of all members by which a recipe is chosen, of each seed."""
    task, members = _task(experiment, recipe), _members(experiment, recipe)
    return list(itertools.chain(*(job_files.runs(experiment, member, task) for member in members)))


def qrels(experiment: Experiment, recipe: str) -> str:
    """The judgements by which a recipe is chosen."""
    return job_files.qrels(experiment, _task(experiment, recipe))


def choice_settings(experiment: Experiment, recipe: str) -> JsonObject:
    """The settings for choosing a recipe."""
    system, chosen = choosers(experiment)[recipe], _choice(experiment, recipe)
    recipes = [[member.name, member.recipe] for member in _members(experiment, recipe)]
    how = {"task": chosen.task, "split": chosen.split, "measure": chosen.measure}
    return {"system": system.name, "recipe": chosen.recipe, **how, "members": recipes}


def of_members(experiment: Experiment, name: str, model: str, recipe: str, seed: str) -> list[str]:
    """The files `name`, as in the table of paths, of one seed of all recipes that are chosen among."""
    fields = {"experiment": experiment.name, "model": model, "seed": seed}
    recipes = dict.fromkeys(member.recipe for member in _members(experiment, recipe))
    return [path(name, **fields, recipe=one) for one in recipes]


def records(experiment: Experiment) -> list[str]:
    """The record of each choice."""
    fields = {"experiment": experiment.name}
    return [
        path("choice", **fields, model=system.model, recipe=recipe) for recipe, system in choosers(experiment).items()
    ]


def _choice(experiment: Experiment, recipe: str) -> RecipeChoice:
    choice = choosers(experiment)[recipe].choice
    assert choice is not None  # of choosers each has one
    return choice


def _members(experiment: Experiment, recipe: str) -> list[System]:
    return [experiment.systems[name] for name in _choice(experiment, recipe).members]


def _task(experiment: Experiment, recipe: str) -> Task:
    choice = _choice(experiment, recipe)
    return experiment.task_of_split(choice.dataset, choice.split)
