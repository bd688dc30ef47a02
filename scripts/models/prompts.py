"""Prompts: what stands before each text that a model is given, such as `query: ` and `passage: ` of E5.

A model may store them, and a configuration may give others, or "" for none. They are set in the loaded model: so
training, encoding and scoring put the same ones, and a checkpoint that is saved stores those it was trained with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scripts.common.errors import UserError
from scripts.common.settings import given
from scripts.models.adapters import Adapter, Role

ROLES: tuple[Role, ...] = ("query", "document")


def refuse_prompts(kind: Adapter, prompts: dict[str, str] | None) -> None:
    """Raise UserError for prompts that a kind of model does not take."""
    roles = prompted_roles(kind)
    if prompts and not roles:
        raise UserError(f"prompts: a {kind.NAME} takes none")
    if unknown := [role for role in prompts or () if role not in roles]:
        raise UserError(f"prompts: unknown key {unknown[0]!r}; expected {', '.join(roles)}")


def prompted_roles(kind: Adapter) -> tuple[Role, ...]:
    """The texts before which a kind of model can be given prompts."""
    return getattr(kind, "PROMPTED", ROLES) if hasattr(kind, "give_prompts") else ()


def prompts_of(kind: Adapter, model: Any, roles: Iterable[Role] = ROLES) -> dict[str, str]:
    """The prompts that a loaded model puts before texts of these roles; a role without any is left out."""
    stated = getattr(kind, "prompts", None)
    prompts = stated(model) if stated else {}
    return {role: prompts[role] for role in roles if prompts.get(role)}


def of_columns(prompts: dict[str, str], columns: Iterable[str]) -> dict[str, str]:
    """The prompts of a training set's columns of texts (see scripts/training/examples.py)."""
    roles = {column: role_of(column) for column in columns if column != "label"}
    return {column: prompts[role] for column, role in roles.items() if prompts.get(role)}


def of_datasets(datasets: Iterable[str], prompts: Iterable[dict[str, str]]) -> dict[str, str]:
    """The prompts of several datasets under names of their own, `arguana-query`, by which a model may store them."""
    each = zip(datasets, prompts, strict=True)
    return {f"{dataset}-{role}": text for dataset, by_role in each for role, text in by_role.items()}


def role_of(column: str) -> Role:
    """Whether a training set's column has queries or documents."""
    return "query" if column in ("anchor", "query") else "document"


def fact(prompts: dict[str, str]) -> dict[str, dict[str, str]]:
    """What a timing says of the prompts that were put; nothing where there was none."""
    return {"prompts": prompts} if prompts else {}


def reported_settings(settings: Any, prompts: dict[str, str]) -> dict[str, Any]:
    """What a timing says of a job's settings. Its prompts are those that were put, whoever gave them."""
    return {key: value for key, value in given(settings).items() if key != "prompts"} | fact(prompts)
