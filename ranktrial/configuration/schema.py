"""The JSON schema of an experiment's configuration, from the records of its sections and the keys of plug-ins.

A plug-in (a model type, an effect …) is a module that defines

    NAME = "d_av"                             its name in configurations: a value of the selecting key
    DESCRIPTION = "over the mean deviation"   optional: its part of the selecting key's description
    Keys = Hedges                             optional: a record of its own keys (ranktrial/common/keys.py)

and is found by its file, so a new plug-in needs no other edit. Plug-ins may share a key if they declare it identically.

reading.py adds the defaults to the configuration. A key whose default is null is left out if it has no value.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType

from ranktrial.common import plugins
from ranktrial.common.keys import Needs, extended, keys_of, restated
from ranktrial.configuration import system_keys
from ranktrial.configuration.dataset_keys import dataset_schema
from ranktrial.configuration.key_schema import Schema, of_record
from ranktrial.configuration.sections.comparison import ComparisonEntry
from ranktrial.configuration.sections.configuration import Configuration
from ranktrial.models.adapters import MODEL_TYPES
from ranktrial.models.model_keys import Model
from ranktrial.synthesis.moderators import MODERATORS

EXHIBITS = "ranktrial.experiment.exhibits"


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
    modules: dict[str, dict[str, ModuleType]] = {section: {} for section in BASES}
    for choice in CHOICES:
        of_choice = declared(choice.package).items()
        modules[choice.section] |= {f"{choice.key}: {name}": module for name, module in of_choice}
    return {section: with_plugins(base, modules[section]) for section, base in BASES.items()}


def with_plugins(section: type, modules: dict[str, ModuleType]) -> type:
    """Return the record of a section with the plug-ins' keys, which need one of the values that select their plug-ins.

    `modules` maps the selecting key and value to a plug-in. Raises ValueError if two declare a key differently.
    """
    declaring = {chosen: keys_of(module.Keys) for chosen, module in modules.items() if hasattr(module, "Keys")}
    owners: dict[str, list[str]] = {}
    for chosen, keys in declaring.items():
        for name, key in keys.items():
            if name in keys_of(section):
                raise ValueError(f"the plug-in of {chosen} states {name!r}, which is a key of its section")
            first = owners.setdefault(name, [])
            if first and declaring[first[0]][name] != key:
                raise ValueError(f"the plug-in of {chosen} states the key {name!r} otherwise than that of {first[0]}")
            first.append(chosen)
    every = extended(section, *(module.Keys for module in modules.values() if hasattr(module, "Keys")))
    return restated(every, {name: Needs(" or ".join(chosen)) for name, chosen in owners.items()})


def declared(package: str) -> dict[str, ModuleType]:
    """Return the plug-ins of a package by name; empty if the folder is missing or a module has no NAME."""
    try:
        return plugins.load_all(package)
    except AttributeError:
        return {}


@cache
def whole() -> type[Configuration]:
    """Return the record of a configuration, including the sections that kinds of figures declare."""
    kinds = plugins.load_all(EXHIBITS).values()
    return extended(Configuration, *(kind.Keys for kind in kinds if hasattr(kind, "Keys")))


@cache
def schema() -> Schema:
    """Return the whole schema, which is cached: callers must not modify it."""
    found = of_record(whole())
    for section, record in records().items():
        found["properties"][section]["additionalProperties"] = of_record(record)
    for choice in CHOICES:
        add_plugins(entry_of(found, choice.section), choice, declared(choice.package))
    of_comparison = entry_of(found, "comparisons")["properties"]
    for part in (of_comparison["moderators"]["items"], of_comparison["subgroups"]):
        add_moderators(part)
    found["properties"]["datasets"]["additionalProperties"] = dataset_schema()
    systems = {"type": "object", "additionalProperties": False, "properties": system_keys.keys()}
    found["properties"]["systems"]["additionalProperties"] = systems
    return found


def entry_of(whole: Schema, section: str) -> Schema:
    """Return the schema of an entry of a section."""
    entry: Schema = whole["properties"][section]["additionalProperties"]
    return entry


def add_plugins(entry: Schema, choice: Choice, modules: dict[str, ModuleType]) -> None:
    """Add the plug-ins to the selecting key."""
    choosing = entry["properties"][choice.key]
    choosing.pop("type", None)
    choosing["enum"] = list(modules)
    described = [f"{name}: {module.DESCRIPTION}" for name, module in modules.items() if hasattr(module, "DESCRIPTION")]
    choosing["description"] = "; ".join([*filter(None, [choosing.get("description")]), *described])


def add_moderators(part: Schema) -> None:
    """Add the known moderators as values, besides the alternative of a column of a file."""
    part["anyOf"][0] = {"enum": list(MODERATORS)}
    described = [f"{name}: {moderator.description}" for name, moderator in MODERATORS.items()]
    own = "a moderator known for each task, or a column of a TSV file: task, then columns of numbers or text"
    part["description"] = "; ".join([*filter(None, [part.get("description")]), own, *described])
