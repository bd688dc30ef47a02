"""Resolves the seed of a system used on other datasets: the one with the best score on a task, often a dev split.

On the tasks of that task's dataset, all seeds run; on all others only the selected one, under the name `selected`.
"""

from __future__ import annotations

from dataclasses import replace

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.dataset_keys import check_split
from ranktrial.experiment.dataset_schema import format_of
from ranktrial.experiment.records import Selection, System
from ranktrial.experiment.sections.system import SelectSeed

WANTED = "select_seed needs 'task' (such as DATASET/dev) or 'by' (another system that selects), and not both"


def selection(check: Checker, name: str, recipe: object, settings: SelectSeed | None) -> Selection | None:
    """Return the selection by a system's `select_seed` with a `task`, or None. Raises UserError if it is invalid."""
    key = f"systems.{name}.select_seed"
    if settings is None:
        return None
    if recipe is None:
        raise check.fail(key, "only valid with a recipe: without training there is no seed to select")
    if bool(settings.task) == bool(settings.by):
        raise check.fail(key, WANTED)
    if settings.task is None:
        if settings.score:
            raise check.fail(key, f"the score is that of the system {settings.by!r}; leave it out here")
        return None
    dataset, _, split = settings.task.partition("/")
    check.known(f"{key}.task", dataset, "datasets")
    dataset_entry = check.config.datasets[dataset]
    if not format_of(dataset_entry).has_documents:
        raise check.fail(f"{key}.task", f"{dataset} has format {dataset_entry.format}: nothing can be searched there")
    check_split(check, f"{key}.task", dataset, split or "test")
    score = settings.score or {"R@1": 3, "R@3": 2, "R@5": 1}
    for measure in score:
        check.computable(f"{key}.score", measure)
    return Selection(settings.task, dataset, split or "test", score, name)


def share_selections(check: Checker, systems: dict[str, System]) -> dict[str, System]:
    """Return the systems; those that select `by` another system get the selection of that system.

    The other system may be named as in the file. If it was fanned out, model, recipe and seeds identify it.
    """
    shared = dict(systems)
    for name, system in systems.items():
        asked: SelectSeed | None = getattr(check.config.systems[name], "select_seed", None)
        if asked is None or asked.by is None:
            continue
        by = asked.by
        own = (system.model, system.recipe, system.seeds)
        alike = [
            candidate
            for candidate in systems.values()
            if candidate.selection and (candidate.model, candidate.recipe, candidate.seeds) == own
        ]
        exact = [candidate for candidate in alike if candidate.name == by]
        matches = exact or [candidate for candidate in alike if candidate.name.startswith(f"{by}-")]
        if len(matches) != 1:
            problem = f"{by!r} is not exactly one system with select_seed.task and the same model, recipe and seeds"
            raise check.fail(f"systems.{name}.select_seed.by", problem)
        shared[name] = replace(system, selection=matches[0].selection)
    return shared
