"""What a configuration says of adapters, Matryoshka losses and truncated vectors, held against kinds of model."""

from __future__ import annotations

from typing import Any

from scripts.experiment.checker import Checker
from scripts.experiment.records import System
from scripts.models.adapters import adapter, adapters

TRUNCATION: dict[str, dict[str, Any]] = {
    "truncate_dim": {
        "description": "so many first dimensions of the vectors of a bi-encoder count, as in sentence-transformers; "
        "texts are encoded once, for systems of any dimensions. All of them if left out",
        "$ref": "#/$defs/length",
    }
}


def truncate_dim(check: Checker, name: str, entry: dict[str, Any], kind: str) -> int | None:
    """The dimensions that a system takes of its model's vectors. Raises UserError for a kind that has no such."""
    given: int | None = entry.get("truncate_dim")
    if given is not None and "embeddings" in entry:
        problem = "not together with embeddings, which quantise whole vectors; leave one of them out"
        raise check.fail(f"systems.{name}.truncate_dim", problem)
    if given is not None and not hasattr(adapter(kind), "truncate"):
        able = " and ".join(f"{other}s" for other, module in adapters().items() if hasattr(module, "truncate"))
        raise check.fail(f"systems.{name}.truncate_dim", f"a {kind} has no vectors to truncate; {able} do")
    return given


def truncation_of(system: System) -> dict[str, int]:
    """What a system's runs depend on beside the rest, where it truncates vectors."""
    return {"truncate_dim": system.truncate_dim} if system.truncate_dim else {}


def truncation_text(system: System) -> str:
    return f", the first {system.truncate_dim} dimensions of its vectors" if system.truncate_dim else ""


def check_dimensions(check: Checker, recipe: str, entry: dict[str, Any], kinds: list[str]) -> None:
    """Raise UserError for a loss of several dimensions where no model of these kinds has such vectors."""
    if "matryoshka_dims" in entry and not any(getattr(adapter(kind), "MATRYOSHKA", False) for kind in kinds):
        problem = f"a {kinds[0]} has no vectors whose first dimensions could be trained; leave it out"
        raise check.fail(f"recipes.{recipe}.matryoshka_dims", problem)


def as_text(recipe: dict[str, Any]) -> str:
    """How a recipe trains other than all weights for all dimensions, as the end of a system's description."""
    words = ""
    if lora := recipe.get("lora"):
        words += f", by a LoRA adapter of rank {lora['r']}{' that is merged' if lora['merge'] else ''}"
    if dimensions := recipe.get("matryoshka_dims"):
        words += f", for the first {', '.join(map(str, dimensions))} dimensions (Matryoshka)"
    return words
