"""The keys that kinds declare: modules of a package, among which a key of a section chooses; reads and writes nothing.

A module that is one kind of something (a model, an effect …) states

    NAME = "d_av"                             what a configuration calls it: a value of the choosing key
    DESCRIPTION = "over the mean deviation"   optional: what the choosing key's description says of it
    Keys = Hedges                             optional: a record of keys of its own (scripts/common/keys.py)

and is found by its file, so that a new kind needs no other edit. Kinds may have a key in common; they state it alike,
and its description begins with the names of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

from scripts.common import plugins
from scripts.common.keys import extended, keys_of
from scripts.experiment.sections.comparison import ComparisonEntry
from scripts.models.adapters import KINDS as KINDS_OF_MODEL
from scripts.models.model_keys import Model

MODERATORS = "scripts.synthesis.moderators"


@dataclass(frozen=True)
class Choice:
    """Where a configuration chooses between the kinds of a package: a key of the entries of a section."""

    package: str
    section: str
    key: str


CHOICES = (
    Choice(KINDS_OF_MODEL, "models", "type"),
    Choice("scripts.statistics.effects", "comparisons", "effect"),
    Choice("scripts.statistics.intervals", "comparisons", "interval"),
    Choice("scripts.statistics.estimators", "comparisons", "estimator"),
    Choice("scripts.statistics.task_intervals", "comparisons", "task_interval"),
)
BASES = {"models": Model, "comparisons": ComparisonEntry}


@cache
def records() -> dict[str, type]:
    """The records of the sections whose kinds declare keys, with these."""
    kinds: dict[str, list[ModuleType]] = {section: [] for section in BASES}
    for choice in CHOICES:
        kinds[choice.section] += declared(choice.package).values()
    return {section: with_kinds(base, kinds[section]) for section, base in BASES.items()}


def with_kinds(section: type, kinds: list[ModuleType]) -> type:
    """The record of a section with the keys of these kinds. Raises ValueError where two declare a key differently."""
    declaring = [module for module in kinds if hasattr(module, "Keys")]
    owners: dict[str, ModuleType] = {}
    for module in declaring:
        for name, key in keys_of(module.Keys).items():
            if name in keys_of(section):
                raise ValueError(f"kind {module.NAME!r} states {name!r}, which is a key of its section")
            if keys_of(owners.setdefault(name, module).Keys)[name] != key:
                raise ValueError(
                    f"kind {module.NAME!r} states the key {name!r} otherwise than kind {owners[name].NAME!r}"
                )
    return extended(section, *(module.Keys for module in declaring))


def owners_of(key: str, kinds: dict[str, ModuleType]) -> list[str]:
    """The names of the kinds that declare a key."""
    return [name for name, module in kinds.items() if hasattr(module, "Keys") and key in keys_of(module.Keys)]


def declared(package: str) -> dict[str, ModuleType]:
    """The kinds of a package by name; none where the folder is not there or its modules declare nothing yet."""
    try:
        return plugins.load_all(package)
    except AttributeError:
        return {}
