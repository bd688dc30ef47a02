"""The keys that plug-ins declare: modules of a package, one of which a key selects; reads and writes nothing.

A plug-in (a model type, an effect …) is a module that defines

    NAME = "d_av"                             its name in configurations: a value of the selecting key
    DESCRIPTION = "over the mean deviation"   optional: its part of the selecting key's description
    Keys = Hedges                             optional: a record of its own keys (ranktrial/common/keys.py)

and is found by its file, so a new plug-in needs no other edit. Plug-ins may share a key if they declare it identically;
its description then begins with the names of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

from ranktrial.common import plugins
from ranktrial.common.keys import extended, keys_of
from ranktrial.experiment.sections.comparison import ComparisonEntry
from ranktrial.models.adapters import MODEL_TYPES
from ranktrial.models.model_keys import Model

MODERATORS = "ranktrial.synthesis.moderators"


@dataclass(frozen=True)
class Choice:
    """A key of a section's entries that selects a plug-in of a package."""

    package: str
    section: str
    key: str


CHOICES = (
    Choice(MODEL_TYPES, "models", "type"),
    Choice("ranktrial.statistics.effects", "comparisons", "effect"),
    Choice("ranktrial.statistics.intervals", "comparisons", "interval"),
    Choice("ranktrial.statistics.estimators", "comparisons", "estimator"),
    Choice("ranktrial.statistics.task_intervals", "comparisons", "task_interval"),
)
BASES = {"models": Model, "comparisons": ComparisonEntry}


@cache
def records() -> dict[str, type]:
    """Return section -> its record, including the keys that plug-ins declare."""
    modules: dict[str, list[ModuleType]] = {section: [] for section in BASES}
    for choice in CHOICES:
        modules[choice.section] += declared(choice.package).values()
    return {section: with_plugins(base, modules[section]) for section, base in BASES.items()}


def with_plugins(section: type, modules: list[ModuleType]) -> type:
    """Return the record of a section with the plug-ins' keys. Raises ValueError if two declare a key differently."""
    declaring = [module for module in modules if hasattr(module, "Keys")]
    owners: dict[str, ModuleType] = {}
    for module in declaring:
        for name, key in keys_of(module.Keys).items():
            if name in keys_of(section):
                raise ValueError(f"plug-in {module.NAME!r} states {name!r}, which is a key of its section")
            if keys_of(owners.setdefault(name, module).Keys)[name] != key:
                raise ValueError(
                    f"plug-in {module.NAME!r} states the key {name!r} otherwise than plug-in {owners[name].NAME!r}"
                )
    return extended(section, *(module.Keys for module in declaring))


def owners_of(key: str, modules: dict[str, ModuleType]) -> list[str]:
    """Return the names of the plug-ins that declare a key."""
    return [name for name, module in modules.items() if hasattr(module, "Keys") and key in keys_of(module.Keys)]


def declared(package: str) -> dict[str, ModuleType]:
    """Return the plug-ins of a package by name; empty if the folder is missing or a module has no NAME."""
    try:
        return plugins.load_all(package)
    except AttributeError:
        return {}
