"""Where a comparison knows from what other seeds of its systems would have given; reads and writes nothing.

A system is trained if a recipe is behind any of its runs; BM25, weights as published and the user's own runs have no
seeds here. With several seeds on a task of the comparison it shows their spread itself. Otherwise it borrows that of
itself on other tasks, else of another trained system: with the same model, or else with a model of the same type; among
these, of one that ranks the most tasks of the comparison with several seeds, then of the one with the most seeds.
"""

from __future__ import annotations

import itertools

from scripts.experiment.records import Comparison, Experiment, System, Task
from scripts.experiment.seeds_of import BORROWED, OWN, UNKNOWN, SeedsOf
from scripts.experiment.system_kinds import behind, seeds_matter, system_kind
from scripts.statistics.dependence.seed_effects import DIFFERENCE


def seed_sources(experiment: Experiment, comparison: Comparison) -> dict[str, SeedsOf]:
    """The trained systems of a comparison by role: control and treatment, or `difference` where they share
    checkpoints."""
    control, treatment = experiment.systems[comparison.control], experiment.systems[comparison.treatment]
    roles = {
        "control": (control, _tasks(experiment, comparison, {})),
        "treatment": (treatment, _tasks(experiment, comparison, comparison.treatment_on)),
    }
    seeds = {role: [experiment.seeds_on(system, task) for task in tasks] for role, (system, tasks) in roles.items()}
    several = {role: max(map(len, of_tasks)) > 1 for role, of_tasks in seeds.items()}
    shared = _seed_by_seed(experiment, control) & _seed_by_seed(experiment, treatment)
    if shared and seeds["control"] == seeds["treatment"]:
        name = f"{treatment.name} - {control.name}"
        return {DIFFERENCE: SeedsOf(OWN, name) if several["control"] else SeedsOf(UNKNOWN)}
    sources = {}
    for role, (system, tasks) in roles.items():
        if _recipes(experiment, system):
            own = SeedsOf(OWN, system.name)
            sources[role] = own if several[role] else _borrowed(experiment, system, tasks)
    return sources


def tasks_of_source(experiment: Experiment, comparison: Comparison, name: str) -> list[Task]:
    """The tasks on which system `name` shows the spread of its seeds: those of the comparison, or if none of them,
    all."""
    several = _several(experiment, experiment.systems[name])
    own = _tasks(experiment, comparison, {}) + _tasks(experiment, comparison, comparison.treatment_on)
    return [task for task in several if task in own] or several


def checkpoints(experiment: Experiment, comparison: Comparison) -> dict[str, dict[str, str]]:
    """By role, the recipes behind the run of each task, and the datasets that its rankers learnt from: tasks with the
    same ones are ranked by the same checkpoints.

    Only roles are named whose tasks do not all have the same.
    """
    pairs = {
        "control": (experiment.systems[comparison.control], {}),
        "treatment": (experiment.systems[comparison.treatment], comparison.treatment_on),
    }
    found = {}
    for role, (system, elsewhere) in pairs.items():
        chain = behind(system, experiment.systems)
        recipes = {}
        for task, ranked in zip(comparison.tasks, _tasks(experiment, comparison, elsewhere), strict=True):
            dataset = ranked.ranked_dataset
            used = [member.recipe_on(dataset) for member in chain if member.recipes]
            rankers = [member for member in chain if not member.recipes]
            used += itertools.chain(*(system_kind(one).learnt_on(experiment, one, dataset) for one in rankers))
            recipes[experiment.tasks[task].folder] = " ".join(used)
        if len(set(recipes.values())) > 1:
            found[role] = recipes
    return found


def _tasks(experiment: Experiment, comparison: Comparison, elsewhere: dict[str, str]) -> list[Task]:
    return [experiment.tasks[elsewhere.get(task, task)] for task in comparison.tasks]


def _recipes(experiment: Experiment, system: System) -> set[tuple[str | None, str]]:
    """The model and recipe of each trained system whose runs are behind a system's; name and kind of one with seeds
    only."""
    return _trained(behind(system, experiment.systems))


def _seed_by_seed(experiment: Experiment, system: System) -> set[tuple[str | None, str]]:
    """Those of which a system's run with a seed takes the run with that seed: not of scores that are its features."""
    return _trained(behind(system, experiment.systems, seed_by_seed=True))


def _trained(chain: list[System]) -> set[tuple[str | None, str]]:
    trained: set[tuple[str | None, str]]
    trained = {(member.model, recipe) for member in chain if member.model for recipe in member.recipes}
    return trained or {(member.name, member.kind) for member in chain if seeds_matter(member)}


def _several(experiment: Experiment, system: System) -> list[Task]:
    """The tasks that a system ranks with several seeds."""
    return [task for task in experiment.runs_of(system) if len(experiment.seeds_on(system, task)) > 1]


def _borrowed(experiment: Experiment, system: System, ranked: list[Task]) -> SeedsOf:
    models = {model for model, _ in _recipes(experiment, system)}
    types = _types(experiment, models)
    found = []
    for position, other in enumerate(experiment.systems.values()):
        others = {model for model, _ in _recipes(experiment, other)}
        tasks = _several(experiment, other)
        if tasks and (others & models or _types(experiment, others) & types):
            near = 2 if other.name == system.name else 1 if others & models else 0
            common = len([task for task in tasks if task in ranked])
            found.append((-near, -common, -len(other.seeds), position, other.name))
    return SeedsOf(BORROWED, min(found)[-1]) if found else SeedsOf(UNKNOWN)


def _types(experiment: Experiment, models: set[str | None]) -> set[str]:
    return {experiment.models[model].type for model in models if model and model in experiment.models}
