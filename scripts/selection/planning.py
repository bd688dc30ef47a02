"""What the jobs of rules/selection.smk are given: paths and settings, from the experiment and the wildcards."""

from __future__ import annotations

from collections.abc import Iterable

from ranktrial.common.keys import JsonObject
from ranktrial.experiment import job_files
from ranktrial.experiment.records import Experiment, Selection, System, Task
from ranktrial.experiment.results_paths import SELECTED, path

Inputs = dict[str, str | list[str]]


def selections(experiment: Experiment) -> dict[str, Selection]:
    """The selections by the system among whose seeds they choose; systems with the same checkpoints share one."""
    return {s.selection.by: s.selection for s in experiment.systems.values() if s.selection}


def choosers(experiment: Experiment) -> dict[str, System]:
    """The systems that choose, by the recipe that they rank with."""
    return {system.recipe: system for system in experiment.systems.values() if system.choice}


def seed_inputs(experiment: Experiment, system: str) -> Inputs:
    """The runs of all seeds on the task that decides, its judgements, and the checkpoints with their timings."""
    chooser, task = experiment.systems[system], experiment.selection_task(selections(experiment)[system])
    fields = {"experiment": experiment.name, "model": chooser.model, "recipe": chooser.recipe}
    trained = {
        name: [path(name, **fields, seed=seed) for seed in chooser.seeds]
        for name in ("checkpoint", "checkpoint_timing")
    }
    timings = {"checkpoints": trained["checkpoint"], "timings": trained["checkpoint_timing"]}
    return _compared(experiment, task, [chooser.name]) | timings


def seed_settings(experiment: Experiment, system: str) -> JsonObject:
    """The score by which a seed is chosen, and the task."""
    found = selections(experiment)[system]
    task = experiment.selection_task(found)
    return {"system": system, "task": task.name, "split": task.split, "score": found.score, "formula": found.formula}


def recipe_inputs(experiment: Experiment, recipe: str) -> Inputs:
    """The runs of all members by which a recipe is chosen, of each seed, and the judgements."""
    choice = choosers(experiment)[recipe].choice
    task = experiment.task_of_split(choice.dataset, choice.split)
    return _compared(experiment, task, choice.members)


def _compared(experiment: Experiment, task: Task, systems: Iterable[str]) -> Inputs:
    """The runs of systems on the task that decides, of each seed, and its judgements."""
    runs = [run for name in systems for run in job_files.runs(experiment, experiment.systems[name], task)]
    return {"runs": runs, "qrels": job_files.qrels(experiment, task)}


def recipe_settings(experiment: Experiment, recipe: str) -> JsonObject:
    """The measure by which a recipe is chosen, the task, and the recipes."""
    system = choosers(experiment)[recipe]
    asked = {key: getattr(system.choice, key) for key in ("recipe", "task", "split", "measure")}
    members = [[name, experiment.systems[name].recipe] for name in system.choice.members]
    return {"system": system.name, **asked, "members": members}


def of_recipes(experiment: Experiment, name: str, model: str, recipe: str, seed: str) -> list[str]:
    """The files `name`, as in the table of paths, of one seed of all recipes that are chosen among."""
    members = choosers(experiment)[recipe].choice.members
    fields = {"experiment": experiment.name, "model": model, "seed": seed}
    return [path(name, **fields, recipe=one) for one in dict.fromkeys(experiment.systems[m].recipe for m in members)]


def seed_records(experiment: Experiment) -> list[str]:
    """The record of each selection of a seed."""
    return [
        job_files.checkpoint(experiment, experiment.systems[name], selection.dataset, SELECTED, "seed_selection")
        for name, selection in selections(experiment).items()
    ]


def recipe_records(experiment: Experiment) -> list[str]:
    """The record of each choice of a recipe."""
    fields = {"experiment": experiment.name}
    chosen = choosers(experiment).items()
    return [path("choice", **fields, model=system.model, recipe=recipe) for recipe, system in chosen]
