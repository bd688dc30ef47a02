"""Sources of the seed variance in a comparison; reads and writes nothing.

A system is trained if a recipe is behind any of its runs; BM25, published weights and the user's own runs have no seeds
here. With several seeds on a task of the comparison, the variance is estimated from the system itself. Otherwise it is
borrowed from the same system on other tasks, else from another trained system: one with the same model, or else with a
model of the same type; among these, the one that ranks the most tasks of the comparison with several seeds, then the
one with the most seeds.
"""

from __future__ import annotations

import itertools

from ranktrial.experiment.records import Comparison, Experiment, System, Task
from ranktrial.experiment.synthesis_records import BORROWED, DIFFERENCE, OWN, UNKNOWN, SeedsOf
from ranktrial.experiment.system_types import behind, seeds_matter, system_type


def seed_sources(experiment: Experiment, comparison: Comparison) -> dict[str, SeedsOf]:
    """Return the seed sources of a comparison's trained systems by role.

    The roles are control and treatment, or `difference` if these share checkpoints.
    """
    if comparison.gain_over:
        return _seeds_of_gains(experiment, comparison)
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


def _seeds_of_gains(experiment: Experiment, comparison: Comparison) -> dict[str, SeedsOf]:
    """The gains of each role whose systems, if trained, have several seeds; no other system's stand for a gain's."""
    found, tasks = {}, _tasks(experiment, comparison, {})
    for (role, base), name in zip(comparison.bases.items(), comparison.names(), strict=True):
        pair = [experiment.systems[one] for one in (getattr(comparison, role), base)]
        if trained := [one for one in pair if _recipes(experiment, one)]:
            several = all(max(len(experiment.seeds_on(one, task)) for task in tasks) > 1 for one in trained)
            found[role] = SeedsOf(OWN, name) if several else SeedsOf(UNKNOWN)
    return found


def tasks_of_source(experiment: Experiment, comparison: Comparison, name: str) -> list[Task]:
    """Return the tasks that system `name` ranks with several seeds: those of the comparison or, without any, all."""
    several = _several(experiment, experiment.systems[name])
    own = _tasks(experiment, comparison, {}) + _tasks(experiment, comparison, comparison.treatment_on)
    return [task for task in several if task in own] or several


def checkpoints(experiment: Experiment, comparison: Comparison) -> dict[str, dict[str, str]]:
    """Return by role and task the recipes behind the run, and what tells the trainings of its rankers apart.

    Tasks with equal values are ranked by the same checkpoints. Roles with the same value for all tasks are left out.
    """
    pairs = {
        "control": (experiment.systems[comparison.control], {}),
        "treatment": (experiment.systems[comparison.treatment], comparison.treatment_on),
    }
    found = {}
    for role, (system, elsewhere) in pairs.items():
        members = [system, *(experiment.systems[base] for base in [comparison.bases.get(role)] if base)]
        chain = [one for member in members for one in behind(member, experiment.systems)]
        recipes = {}
        for task, ranked in zip(comparison.tasks, _tasks(experiment, comparison, elsewhere), strict=True):
            dataset = ranked.ranked_dataset
            used = [member.recipe_on(dataset) for member in chain if member.recipes]
            rankers = [member for member in chain if not member.recipes]
            used += itertools.chain(*(system_type(one).trainings(experiment, one, ranked) for one in rankers))
            recipes[experiment.tasks[task].folder] = " ".join(used)
        if len(set(recipes.values())) > 1:
            found[role] = recipes
    return found


def _tasks(experiment: Experiment, comparison: Comparison, elsewhere: dict[str, str]) -> list[Task]:
    return [experiment.tasks[elsewhere.get(task, task)] for task in comparison.tasks]


def _recipes(experiment: Experiment, system: System) -> set[tuple[str | None, str]]:
    """Return model and recipe of each trained system behind a system's runs.

    Without any, return name and type of the systems behind them that have seeds.
    """
    return _trained(behind(system, experiment.systems))


def _seed_by_seed(experiment: Experiment, system: System) -> set[tuple[str | None, str]]:
    """Return those whose runs are taken seed by seed, which excludes systems whose scores are features."""
    return _trained(behind(system, experiment.systems, seed_by_seed=True))


def _trained(chain: list[System]) -> set[tuple[str | None, str]]:
    trained: set[tuple[str | None, str]]
    trained = {(member.model, recipe) for member in chain if member.model for recipe in member.recipes}
    return trained or {(member.name, member.type) for member in chain if seeds_matter(member)}


def _several(experiment: Experiment, system: System) -> list[Task]:
    """Return the tasks that a system ranks with several seeds."""
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
