"""Teachers of recipes: systems from whose scores a training learns, their checks, and the data behind a student.

A teacher is a system with a cross-encoder, published or trained by another recipe. Students have also learnt from the
data from which their teacher learnt. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from ranktrial.common.errors import UserError
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import System
from ranktrial.experiment.sections.recipe import UNTRAINED, Recipe
from ranktrial.models.adapters import adapter
from ranktrial.models.losses import resolve_loss
from ranktrial.models.teaching import KEYS, has_temperature

Recipes = Mapping[str, Recipe]


def check_recipe(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError for a teacher in a training on passages, and for keys that need a teacher if there is none."""
    for key in KEYS if not recipe.teacher else ():
        if getattr(recipe, key) is not None:
            raise check.fail(
                f"recipes.{name}.{key}",
                "only valid with a teacher, with whose scores those of the student are compared",
            )
    if recipe.teacher and recipe.long_documents == "passages":
        problem = "scores whole documents, and long_documents: passages learns from parts of them; leave one out"
        raise check.fail(f"recipes.{name}.teacher", problem)


def check_loss_of_students(check: Checker, name: str, recipe: Recipe, model_types: list[str]) -> None:
    """Raise UserError for a temperature or a scale if the loss or the models have none."""
    losses = {model_type: loss for model_type in model_types if recipe.teacher and (loss := _loss(recipe, model_type))}
    if recipe.temperature and losses and not any(map(has_temperature, losses.values())):
        problem = f"loss {recipe.loss} has none; DistillKLDivLoss has"
        raise check.fail(f"recipes.{name}.temperature", problem)
    if recipe.scale and losses and not any(adapter(model_type).SEARCHES for model_type in losses):
        problem = f"of a {next(iter(losses))} scores are logits, as the teacher's are; leave it out"
        raise check.fail(f"recipes.{name}.scale", problem)


def _loss(recipe: Recipe, model_type: str) -> str | None:
    try:
        return resolve_loss(recipe.loss, model_type, taught=True)
    except UserError:
        return None


def check_names(check: Checker, entries: Mapping[str, list[str]]) -> None:
    """Raise UserError if a teacher is not exactly one system."""
    systems, recipes = check.config.systems, check.config.recipes
    for name, recipe in recipes.items():
        teacher, key = recipe.teacher, f"recipes.{name}.teacher"
        if teacher is None or teacher in systems:
            continue
        if teacher in entries:
            problem = f"{teacher} became {len(entries[teacher])} systems; name one of them: "
            raise check.fail(key, problem + ", ".join(entries[teacher]))
        if teacher in recipes:
            raise check.fail(key, f"{teacher} is a recipe; name a system that re-ranks with it")
        if teacher in check.config.models:
            raise check.fail(key, f"{teacher} is a model; name a system that re-ranks with it")
        check.known(key, teacher, "systems")


def check_scorer(check: Checker, key: str, systems: Mapping[str, System], name: str, dataset: str) -> None:
    """Raise UserError unless the system of this name has a cross-encoder with a checkpoint for the dataset."""
    system = systems[name]
    model_type = check.config.models[system.model].type if system.model else None
    if model_type is None or adapter(model_type).SEARCHES:
        what = f"is of a {model_type}" if model_type else f"is of type {system.type}, without a model"
        raise check.fail(key, f"{name} {what}; expected a system with a cross-encoder")
    if system.recipe_of and dataset not in system.recipe_of:
        raise check.fail(key, f"{name} has no recipe for {dataset}, whose documents it would score")


def learnt_from(recipes: Recipes, systems: Mapping[str, System], recipe: str | None) -> set[tuple[str, str]]:
    """Return the (dataset, split) pairs behind a training: its own, and those of its starting points and teachers.

    For a teacher with a selected seed or recipe, they include the queries of the selection.
    """
    found: set[tuple[str, str]] = set()
    for learnt in behind(recipes, systems, recipe):
        found |= {(dataset, "train") for dataset in learnt.datasets}
        if learnt.is_decided_on_dev:
            found |= {(dataset, "dev") for dataset in learnt.datasets}
        if learnt.teacher:
            teacher = systems[learnt.teacher]
            if teacher.choice:
                found.add((teacher.choice.dataset, teacher.choice.split))
            chosen = teacher.selection
            if chosen and learnt.datasets != (chosen.dataset,):
                found.add((chosen.dataset, chosen.split))
    return found


def teaching_models(recipes: Recipes, systems: Mapping[str, System], recipe: str | None) -> set[str]:
    """Return the models of all teachers behind a training."""
    teachers = [systems[learnt.teacher] for learnt in behind(recipes, systems, recipe) if learnt.teacher]
    return {teacher.model for teacher in teachers if teacher.model}


def behind(recipes: Recipes, systems: Mapping[str, System], recipe: str | None) -> list[Recipe]:
    """Return a recipe with all that it starts from and those of all teachers; terminates on (invalid) cycles too."""
    found: dict[str, Recipe] = {}
    open_ones = [recipe]
    while open_ones:
        name = open_ones.pop()
        if not name or name == UNTRAINED or name in found:
            continue
        learnt = found[name] = recipes[name]
        open_ones.append(learnt.start_from)
        if learnt.teacher:
            teacher = systems[learnt.teacher]
            by_dataset = [teacher.recipe_of.get(dataset) for dataset in learnt.datasets]
            open_ones.extend(by_dataset if teacher.recipe_of else [teacher.recipe])
            if teacher.choice:
                open_ones.extend(systems[member].recipe for member in teacher.choice.members)
    return list(found.values())


def as_text(recipe: Recipe) -> str:
    """Return the teacher as part of a system's description; empty without one."""
    return f", distilled from {recipe.teacher}" if recipe.teacher else ""
