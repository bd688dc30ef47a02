"""Checks of LoRA adapters, Matryoshka losses and truncated vectors against model types, and their descriptions."""

from __future__ import annotations

from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import System
from ranktrial.experiment.sections.recipe import Recipe
from ranktrial.models.adapters import adapter, adapters


def check_truncation(check: Checker, name: str, embeddings: object, model_type: str) -> None:
    """Raise UserError if a system truncates vectors that it quantises, or that its model type does not have."""
    if embeddings:
        problem = "not together with embeddings, which quantise whole vectors; leave one of them out"
        raise check.fail(f"systems.{name}.truncate_dim", problem)
    if not hasattr(adapter(model_type), "truncate"):
        able = " and ".join(f"{other}s" for other, module in adapters().items() if hasattr(module, "truncate"))
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


def as_text(recipe: Recipe) -> str:
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
