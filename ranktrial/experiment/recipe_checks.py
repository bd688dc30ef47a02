"""Checks of recipes (examples, negatives, folds, losses, adapters, teachers, use of dev) and of text lengths.

A teacher is a system with a cross-encoder, published or trained by another recipe. Students have also learnt from the
data from which their teacher learnt. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ranktrial.common.errors import UserError
from ranktrial.configuration.checker import Checker
from ranktrial.configuration.sections.recipe import RANDOM, UNTRAINED, Recipe
from ranktrial.experiment.datasets import check_split
from ranktrial.experiment.records import System
from ranktrial.models.adapters import Adapter, adapter, adapters
from ranktrial.models.losses import REGULARIZERS, resolve_loss
from ranktrial.models.model_keys import Model
from ranktrial.models.teaching import has_temperature


def check_truncation(check: Checker, name: str, model_type: str) -> None:
    """Raise UserError if a system truncates vectors that its model type does not have."""
    if not hasattr(adapter(model_type), "truncate"):
        able = types_that(lambda module: hasattr(module, "truncate"))
        raise check.fail(f"systems.{name}.truncate_dim", f"a {model_type} has no vectors to truncate; {able} do")


def truncation_of(system: System) -> dict[str, int]:
    """Return the setting of truncation, on which a system's runs depend; empty if it does not truncate vectors."""
    return {"truncate_dim": system.truncate_dim} if system.truncate_dim else {}


def truncation_text(system: System) -> str:
    return f", the first {system.truncate_dim} dimensions of its vectors" if system.truncate_dim else ""


def check_dimensions(check: Checker, name: str, recipe: Recipe, model_types: list[str]) -> None:
    """Raise UserError for a Matryoshka loss if no model of these types has such vectors."""
    if recipe.matryoshka_dims and not any(
        getattr(adapter(model_type), "MATRYOSHKA", False) for model_type in model_types
    ):
        problem = f"a {model_types[0]} has no vectors whose first dimensions could be trained; leave it out"
        raise check.fail(f"recipes.{name}.matryoshka_dims", problem)


def adapter_text(recipe: Recipe) -> str:
    """Return the end of a system's description: folds, frozen weights, steps, LoRA and Matryoshka dimensions."""
    words = ""
    if recipe.folds:
        words += f", without fold {recipe.left_out_fold} of {recipe.folds} of its queries"
    if recipe.freeze:
        words += ", its prediction head alone"
    if recipe.steps_per_epoch:
        words += f", epochs of {recipe.steps_per_epoch} steps"
    if recipe.lora:
        words += f", by a LoRA adapter of rank {recipe.lora.r}{' that is merged' if recipe.lora.merge else ''}"
    if recipe.matryoshka_dims:
        words += f", for the first {', '.join(map(str, recipe.matryoshka_dims))} dimensions (Matryoshka)"
    return words


def check_evaluation(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError for unknown measures and missing dev queries."""
    if recipe.evaluate:
        check_measure(check, f"recipes.{name}.evaluate.measure", recipe.evaluate.measure)
        check_split(check, f"recipes.{name}.evaluate", recipe.datasets[0], "dev")


def check_measure(check: Checker, key: str, measure: str) -> None:
    """Raise UserError for a measure that cannot be computed or is better if lower, since the highest value wins."""
    check.computable(key, measure)
    if measure in check.config.lower_is_better:
        raise check.fail(key, f"a lower value of {measure} is better, but the highest would be chosen; name another")


Recipes = Mapping[str, Recipe]


def check_loss_of_students(check: Checker, name: str, recipe: Recipe, model_types: list[str]) -> None:
    """Raise UserError for a temperature or a scale if the loss or the models have none."""
    losses = {
        model_type: loss
        for model_type in model_types
        if recipe.teacher and (loss := _loss_with_teacher(recipe, model_type))
    }
    if recipe.temperature and losses and not any(map(has_temperature, losses.values())):
        problem = f"loss {recipe.loss} has none; DistillKLDivLoss has"
        raise check.fail(f"recipes.{name}.temperature", problem)
    if recipe.scale and losses and not any(adapter(model_type).SEARCHES for model_type in losses):
        problem = f"of a {next(iter(losses))} scores are logits, as the teacher's are; leave it out"
        raise check.fail(f"recipes.{name}.scale", problem)


def _loss_with_teacher(recipe: Recipe, model_type: str) -> str | None:
    try:
        return resolve_loss(recipe.loss, model_type, taught=True)
    except UserError:
        return None


def check_teachers(check: Checker, entries: Mapping[str, list[str]]) -> None:
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


def teacher_text(recipe: Recipe) -> str:
    """Return the teacher as part of a system's description; empty without one."""
    return f", distilled from {recipe.teacher}" if recipe.teacher else ""


LENGTHS = ("max_query_length", "max_document_length")


def check_examples(check: Checker, name: str, recipe: Recipe) -> None:
    """Raise UserError for keys of positives, negatives and folds that cannot be combined."""
    negatives, key = recipe.negatives, f"recipes.{name}.negatives"
    if recipe.folds and recipe.left_out_fold and recipe.left_out_fold > recipe.folds:
        raise check.fail(f"recipes.{name}.left_out_fold", f"{recipe.left_out_fold} is above folds, {recipe.folds}")
    if RANDOM in negatives.sources:
        _check_random(check, key, recipe)
    _check_filters(check, key, recipe)
    least, most = negatives.range_min, negatives.range_max
    if most is not None and RANDOM not in negatives.sources:
        candidates = max(most - least, 0) * len(negatives.sources)
        if negatives.per_query > candidates:
            problem = f"{negatives.per_query} are more than the {candidates} candidates"
            raise check.fail(f"{key}.per_query", f"{problem} from range_min {least} to range_max {most}")
    if recipe.draws_by_epoch and recipe.epochs != int(recipe.epochs):
        raise check.fail(f"recipes.{name}.epochs", f"{recipe.epochs:g} with draw: epoch; expected a whole number")


def _check_random(check: Checker, key: str, recipe: Recipe) -> None:
    """Raise UserError if random negatives are combined with other sources or with keys about a ranking."""
    negatives = recipe.negatives
    if len(negatives.sources) > 1:
        raise check.fail(f"{key}.from", "random ranks nothing that could be taken in turn; name bm25 and systems")
    if negatives.range_max is not None and not recipe.positives.among_candidates:
        only = "only valid with from: bm25, to whose ranking it refers, from: a system, or positives.among_candidates"
        raise check.fail(f"{key}.range_max", only)


def _check_filters(check: Checker, key: str, recipe: Recipe) -> None:
    """Raise UserError unless the filters fit each other and their scores have one scale."""
    negatives, rules = recipe.negatives, recipe.negatives.filters
    least, most = negatives.min_score, negatives.max_score
    if least is not None and most is not None and least > most:
        raise check.fail(f"{key}.min_score", f"{least:g} is above max_score {most:g}, so no candidate would be left")
    if rules and not negatives.cross_encoder and len(negatives.sources) > 1:
        problem = f"scores of {' and '.join(negatives.sources)} have no common scale"
        hint = "give a cross_encoder, which scores all candidates"
        raise check.fail(f"{key}.{next(iter(rules))}", f"{problem}; {hint}")


def check_training(check: Checker, name: str, recipe: Recipe, model_types: list[str]) -> None:
    """Raise UserError for training settings (margin, head learning rate …) that no model of these types or loss has."""
    for key in ("head_learning_rate", "freeze"):
        if getattr(recipe, key) and not any(getattr(adapter(one), "HAS_HEAD", False) for one in model_types):
            raise check.fail(f"recipes.{name}.{key}", f"a {model_types[0]} has no prediction head; leave it out")
    check_dimensions(check, name, recipe, model_types)
    for weight in REGULARIZERS:
        if getattr(recipe, weight) is not None and not any(
            _is_regularized(recipe, model_type) for model_type in model_types
        ):
            problem = f"loss {recipe.loss} has none here; SpladeLoss of a sparse-encoder has"
            raise check.fail(f"recipes.{name}.{weight}", problem)
    check_loss_of_students(check, name, recipe, model_types)
    if recipe.margin and not any(_has_margin(recipe, model_type) for model_type in model_types):
        with_one = sorted({loss for model_type in model_types for loss in getattr(adapter(model_type), "MARGINS", {})})
        hint = f"; of these models' losses {', '.join(with_one)} have one" if with_one else ""
        raise check.fail(f"recipes.{name}.margin", f"loss {recipe.loss} has none{hint}")


def _has_margin(recipe: Recipe, model_type: str) -> bool:
    return _loss(recipe, model_type) in getattr(adapter(model_type), "MARGINS", {})


def _is_regularized(recipe: Recipe, model_type: str) -> bool:
    return _loss(recipe, model_type) in getattr(adapter(model_type), "REGULARIZED", ())


def _loss(recipe: Recipe, model_type: str) -> str | None:
    """Return the loss with which a recipe trains a model type; None if the loss does not fit the type."""
    try:
        return resolve_loss(recipe.loss, model_type, recipe.long_documents == "passages", recipe.teacher is not None)
    except UserError:
        return None


def types_that(able: Callable[[Adapter], object]) -> str:
    """Return the model types for which `able` holds, as text: `bi-encoders, multi-vectors and sparse-encoders`."""
    model_types = [f"{model_type}s" for model_type, module in adapters().items() if able(module)]
    return " and ".join(part for part in (", ".join(model_types[:-1]), model_types[-1]) if part)


def check_lengths(check: Checker, name: str, model: Model) -> None:
    """Raise UserError if queries and documents cannot fit into a model's max_length, which includes special tokens.

    The number of special tokens is known and checked when the model is loaded.
    """
    lengths = {key: length for key in LENGTHS if (length := getattr(model, key)) is not None}
    if not lengths:
        return
    if not hasattr(adapter(model.type), "tokenizer"):
        able = types_that(lambda module: hasattr(module, "tokenizer"))
        raise check.fail(f"models.{name}.{next(iter(lengths))}", f"a {model.type} takes none; {able} do")
    in_pairs = not adapter(model.type).SEARCHES
    whole = sum(lengths.values()) if in_pairs else max(lengths.values())
    if whole >= model.max_length:
        words = " and ".join(f"{key} {value}" for key, value in lengths.items())
        hint = f"leave no room for special tokens within max_length {model.max_length}; raise it or lower them"
        raise check.fail(f"models.{name}", f"{words} {hint}")
