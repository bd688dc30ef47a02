"""Negatives that recipes take from systems: the training queries to rank, and checks of what can be mined.

A system may have learnt from the queries for which it mines negatives, since negatives are not labels (Xiong et al.
2021, ANCE, do so repeatedly). But no training can use negatives from a system that needs that training. Reads and
writes nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from ranktrial.common.wording import hint
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.recipe import BM25, MARGINS, RANDOM, UNTRAINED, Negatives, Recipe
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.recipe_checks import check_scorer
from ranktrial.experiment.records import Experiment, System, Task
from ranktrial.experiment.system_types import behind, documents_held, system_type, takes
from ranktrial.experiment.tasks import add_task

LONGEST = 120  # characters in a file name, which may have 255 in total


def check_mined_names(check: Checker, entries: Mapping[str, list[str]]) -> None:
    """Raise UserError if a recipe names no system, or several, to rank or score negatives, or names are too long."""
    for name, recipe in check.config.recipes.items():
        negatives, key = recipe.negatives, f"recipes.{name}"
        scorers = [negatives.cross_encoder] if negatives.cross_encoder else []
        named = [(word, source) for source, word in recipe.ranked_by.items()]
        named += [("negatives.cross_encoder", scorer) for scorer in scorers]
        for word, system in named:
            if system in check.config.systems:
                continue
            if system in entries:
                problem = (
                    f"{system} became {len(entries[system])} systems; name one of them: {', '.join(entries[system])}"
                )
                raise check.fail(f"{key}.{word}", problem)
            if system in check.config.recipes:
                raise check.fail(f"{key}.{word}", f"{system} is a recipe; name a system that ranks with it")
            known = dict.fromkeys([*([BM25, RANDOM] if word == "negatives.from" else []), *check.config.systems])
            problem = f"unknown name {system!r}{hint(system, known)}; expected one of {', '.join(known)}"
            raise check.fail(f"{key}.{word}", problem)
        if (length := sum(map(len, [*negatives.sources, *scorers, recipe.bm25 or ""]))) > LONGEST:
            problem = (
                f"the names of what they are from and filtered by have {length} characters together, and a file is"
            )
            raise check.fail(f"{key}.negatives", f"{problem} named after them; expected at most {LONGEST}")


def ranked_to_mine(
    check: Checker, all_systems: Mapping[str, System], tasks: dict[str, Task], further: dict[str, Task]
) -> Iterator[tuple[str, Task]]:
    """Yield the systems that rank training queries, each with the task to rank, which is added to `further`."""
    for name, recipe in check.config.recipes.items():
        for (system, word), dataset in itertools.product(recipe.ranked_by.items(), recipe.datasets):
            key, split = f"recipes.{name}.{word}", f"{dataset}/train"
            task = add_task(check, key, split, tasks, further, judged=False)
            if not system_type(all_systems[system]).computed and not all_systems[system].ranks(task.name):
                raise check.fail(key, f"{system} has no run for the training queries of {dataset} ({split})")
            yield system, task


def check_mining(check: Checker, experiment: Experiment) -> None:
    """Raise UserError if a system cannot rank training queries, filters lack scores, or recipes form a cycle."""
    for name, recipe in experiment.recipes.items():
        key = f"recipes.{name}.negatives"
        if recipe.bm25:
            _check_bm25(check, f"recipes.{name}.bm25", experiment, recipe)
        for (system, word), dataset in itertools.product(recipe.ranked_by.items(), recipe.datasets):
            _check_able(check, f"recipes.{name}.{word}", experiment, system, dataset)
            _check_deep_enough(check, key, experiment, system, recipe.negatives)
        for dataset in recipe.datasets:
            _check_filters(check, key, experiment, recipe.negatives, dataset)
            if recipe.teacher:
                check_scorer(check, f"recipes.{name}.teacher", experiment.systems, recipe.teacher, dataset)
    done: set[str] = set()
    for name in experiment.recipes:
        _check_circles(check, experiment, name, (), done)


def _check_bm25(check: Checker, key: str, experiment: Experiment, recipe: Recipe) -> None:
    """Raise UserError unless the system named as BM25 has type bm25 and the recipe takes something from it."""
    if not recipe.needs_bm25:
        raise check.fail(key, "only valid where labels, positives among candidates or negatives are BM25's")
    if experiment.systems[str(recipe.bm25)].type != BM25:
        raise check.fail(key, f"{recipe.bm25} is not a system of type bm25")


def _check_able(check: Checker, key: str, experiment: Experiment, name: str, dataset: str) -> None:
    """Raise UserError unless the system can rank the training queries of a dataset."""
    for member in behind(experiment.systems[name], experiment.systems):
        if member.recipe_of and dataset not in member.recipe_of:
            raise check.fail(key, f"{name} needs runs of {member.name} on {dataset}, for which that has no recipe")
        for other, split in sorted(system_type(member).learnt_from(experiment, member, dataset)):
            if other == dataset and split == "dev":
                check_split(check, f"{key}: {member.name} is tuned", dataset, split)


def _check_deep_enough(check: Checker, key: str, experiment: Experiment, name: str, negatives: Negatives) -> None:
    """Raise UserError unless the system's runs are deep enough for range_max and per_query."""
    held = documents_held(experiment, experiment.systems[name])
    least, most = negatives.range_min, negatives.range_max
    if most is not None and most > held:
        problem = f"{most} is deeper than the runs of {name}, which contain at most {held} documents per query"
        raise check.fail(f"{key}.range_max", problem)
    if negatives.per_query > (held - least) * len(negatives.sources):
        problem = f"{negatives.per_query} are more than the candidates from range_min {least} to the {held} documents"
        raise check.fail(f"{key}.per_query", f"{problem} that the runs of {name} contain at most")


def _check_filters(check: Checker, key: str, experiment: Experiment, negatives: Negatives, dataset: str) -> None:
    """Raise UserError unless there are scores for the filters, including those of positives for margins."""
    if negatives.cross_encoder:
        check_scorer(check, f"{key}.cross_encoder", experiment.systems, negatives.cross_encoder, dataset)
        return
    for margin in (margin for margin in MARGINS if margin in negatives.filters):
        for name in negatives.systems:
            if not system_type(experiment.systems[name]).searches:
                problem = f"{name} ranks the candidates of others, so the score of a positive may not be known"
                raise check.fail(f"{key}.{margin}", f"{problem}; give a cross_encoder, which scores positives too")


def _check_circles(
    check: Checker, experiment: Experiment, name: str, path: tuple[tuple[str, str], ...], done: set[str]
) -> None:
    """Raise UserError if the training of a recipe needs its own result.

    `path` contains the recipes on the way here, each with the system (or none) through which it needs the next.
    """
    recipes = [recipe for recipe, _ in path]
    if name in recipes:
        steps = [word for recipe, system in path[recipes.index(name) :] for word in (recipe, system) if word]
        circle, recipes_in_it = " -> ".join([*steps, name]), recipes[recipes.index(name) :]
        taught = next((one for one in recipes_in_it if experiment.recipes[one].teacher in steps), None)
        if taught:
            raise check.fail(f"recipes.{taught}.teacher", f"a circle: {circle}; a student cannot train its own teacher")
        problem = f"a circle: {circle}; what mines or filters for a recipe cannot be trained by it"
        raise check.fail(f"recipes.{name}.negatives", problem)
    if name in done:
        return
    for other, system in _needed(experiment, experiment.recipes[name]).items():
        _check_circles(check, experiment, other, (*path, (name, system)), done)
    done.add(name)


def _needed(experiment: Experiment, recipe: Recipe) -> dict[str, str]:
    """Return the recipes to train before this one, each with the system (or none) through which it is needed."""
    needed: dict[str, str] = {recipe.start_from: ""} if recipe.start_from else {}
    for dataset in recipe.datasets:
        for system in recipe.negatives.systems:
            for trained in _trainings(experiment, system, dataset):
                needed.setdefault(trained, system)
        for scorer in filter(None, (recipe.negatives.cross_encoder, recipe.teacher)):
            for trained in _trainings(experiment, scorer, dataset, of_scores=True):
                needed.setdefault(trained, scorer)
    return needed


def _trainings(experiment: Experiment, name: str, dataset: str, of_scores: bool = False) -> list[str]:
    """Return the recipes needed for a system's runs on a dataset; `of_scores` excludes the systems that it takes."""
    found: dict[str, None] = {}
    seen: set[tuple[str, str]] = set()
    open_ones = [(name, dataset, of_scores)]
    while open_ones:
        one, on, scores_alone = open_ones.pop()
        if (one, on) in seen:
            continue
        seen.add((one, on))
        system = experiment.systems[one]
        recipe = system.recipe_of.get(on, UNTRAINED) if system.recipe_of else system.recipe
        found |= {} if recipe == UNTRAINED else {recipe: None}
        # A ranker also needs runs of the systems that it takes on all datasets that it learns from.
        learnt = set() if system.model else system_type(system).learnt_from(experiment, system, on)
        places = sorted({on, *(other for other, _ in learnt)})
        open_ones += [] if scores_alone else [(taken, place, False) for taken in takes(system) for place in places]
        if system.choice:
            open_ones += [(member, system.choice.dataset, False) for member in system.choice.members]
        if system.selection and system.selection.dataset != on:
            open_ones.append((system.selection.by, system.selection.dataset, False))
    return list(found)
