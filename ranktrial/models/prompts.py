"""Prompts: texts put before each input of a model, such as `query: ` and `passage: ` for E5.

A model may store prompts, and a configuration may give others, or "" for none. They are set in the loaded model, so
training, encoding and scoring use the same ones, and a saved checkpoint stores those it was trained with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.settings import given
from ranktrial.models.adapters import Adapter, Role

ROLES: tuple[Role, ...] = ("query", "document")


def refuse_prompts(model_type: Adapter, prompts: dict[str, str] | None) -> None:
    """Raise UserError for prompts that a type of model does not take."""
    roles = prompted_roles(model_type)
    if prompts and not roles:
        raise UserError(f"prompts: a {model_type.NAME} takes none")
    if unknown := [role for role in prompts or () if role not in roles]:
        raise UserError(f"prompts: unknown key {unknown[0]!r}; expected {', '.join(roles)}")


def prompted_roles(model_type: Adapter) -> tuple[Role, ...]:
    """The roles whose texts can be given prompts in a type of model."""
    return getattr(model_type, "PROMPTED", ROLES) if hasattr(model_type, "give_prompts") else ()


def prompts_of(model_type: Adapter, model: Any, roles: Iterable[Role] = ROLES) -> dict[str, str]:
    """The prompts of a loaded model for these roles; roles without a prompt are left out."""
    stated = getattr(model_type, "prompts", None)
    prompts = stated(model) if stated else {}
    return {role: prompts[role] for role in roles if prompts.get(role)}


def of_columns(prompts: dict[str, str], columns: Iterable[str]) -> dict[str, str]:
    """The prompts of a training set's text columns (see ranktrial/training/examples.py)."""
    roles = {column: role_of(column) for column in columns if column != "label"}
    return {column: prompts[role] for column, role in roles.items() if prompts.get(role)}


def of_datasets(datasets: Iterable[str], prompts: Iterable[dict[str, str]]) -> dict[str, str]:
    """The prompts of several datasets under names such as `arguana-query`, by which a model may store them."""
    each = zip(datasets, prompts, strict=True)
    return {f"{dataset}-{role}": text for dataset, by_role in each for role, text in by_role.items()}


def role_of(column: str) -> Role:
    """The role of a training set's column: query or document."""
    return "query" if column in ("anchor", "query") else "document"


def fact(prompts: dict[str, str]) -> dict[str, dict[str, str]]:
    """The prompts used, for a timing record; empty if there were none."""
    return {"prompts": prompts} if prompts else {}


def reported_settings(settings: Any, prompts: dict[str, str]) -> dict[str, Any]:
    """A job's settings for a timing record, with the prompts that were used, whatever their origin.

    The tokens per batch are a fact of the loaded model (see running.py).
    """
    return {key: value for key, value in given(settings).items() if key not in ("prompts", "batch_tokens")} | fact(
        prompts
    )
