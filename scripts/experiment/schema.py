"""The JSON schema of an experiment's configuration: schema_base.yaml with what plug-ins declare.

A module that is one kind of something (a dataset format, an effect …) states

    NAME = "beir"                                    what a configuration calls it: a value of the choosing key
    DESCRIPTION = "a folder in BEIR's layout"        optional: what the choosing key's description says of it
    KEYS = {"domain": {"description": …, "type": "string"}}    optional: keys of its own, as JSON-schema properties
    IMPLIED = True                                   optional: other keys imply the kind, no value names it

and is found by its file, so that a new kind needs no other edit. Kinds may have a key in common; they state it alike,
and its description begins with the names of all of them. Where the base has a key, its description there stays.

Defaults are written into the configuration (see reading.py). A key whose default is null is left out where it has no
value, so that `key in entry` asks whether it has one.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from scripts.common import plugins
from scripts.common.strict_yaml import read_yaml
from scripts.experiment import system_kinds
from scripts.experiment.dataset_schema import dataset_schema

BASE = Path(__file__).with_name("schema_base.yaml")


@dataclass(frozen=True)
class Choice:
    """Where a configuration chooses between the kinds of a folder: a key of a definition under $defs."""

    package: str
    definition: str
    key: str


CHOICES = (
    Choice("scripts.models.kinds", "model", "type"),
    Choice("scripts.statistics.effects", "comparison", "effect"),
    Choice("scripts.statistics.intervals", "comparison", "interval"),
    Choice("scripts.statistics.estimators", "comparison", "estimator"),
    Choice("scripts.statistics.task_intervals", "comparison", "task_interval"),
)


@cache
def schema() -> dict[str, Any]:
    """The whole schema. Not to be changed by who gets it."""
    whole = read_yaml(BASE)
    for choice in CHOICES:
        add_kinds(whole["$defs"][choice.definition], choice.key, declared(choice.package))
    add_moderators(whole["$defs"]["moderator"])
    whole["$defs"]["dataset"] = dataset_schema()
    whole["$defs"]["system"]["properties"] = system_kinds.keys()
    return whole


def declared(package: str) -> dict[str, ModuleType]:
    """The kinds of a folder by name; none where the folder is not there or its modules declare nothing yet."""
    try:
        return plugins.load_all(package)
    except AttributeError:
        return {}


def add_kinds(definition: dict[str, Any], key: str, kinds: dict[str, ModuleType]) -> None:
    """Add the kinds to what the key that chooses between them says, and the keys that they declare beside it."""
    properties = definition["properties"]
    choosing = properties[key]
    named = {name: module for name, module in kinds.items() if not getattr(module, "IMPLIED", False)}
    if named:
        choosing["enum"] = list(dict.fromkeys([*choosing.get("enum", []), *named]))
    described = [f"{name}: {module.DESCRIPTION}" for name, module in named.items() if hasattr(module, "DESCRIPTION")]
    if described:
        choosing["description"] = "; ".join([*filter(None, [choosing.get("description")]), *described])
    for own_key, owners in owners_of_keys(kinds).items():
        stated = kinds[owners[0]].KEYS[own_key]
        if own_key in properties:
            if without_description(properties[own_key]) != without_description(stated):
                raise ValueError(f"kind {owners[0]!r} states the key {own_key!r} otherwise than the base")
        else:
            properties[own_key] = copy.deepcopy(stated)
            if "description" in stated:
                properties[own_key]["description"] = f"{', '.join(owners)}: {stated['description']}"


def add_moderators(definition: dict[str, Any]) -> None:
    """Name the known moderators, among which a list chooses, where the other choice is a column of a file."""
    known = declared("scripts.synthesis.moderators")
    definition["anyOf"][0]["enum"] = list(known)
    described = [f"{name}: {module.DESCRIPTION}" for name, module in known.items()]
    definition["description"] = "; ".join([definition["description"], *described])


def owners_of_keys(kinds: dict[str, ModuleType]) -> dict[str, list[str]]:
    """The keys that kinds declare, each with the names of the kinds that do. ValueError where two do it differently."""
    owners: dict[str, list[str]] = {}
    for name, module in kinds.items():
        for key, stated in getattr(module, "KEYS", {}).items():
            others = owners.setdefault(key, [])
            if others and kinds[others[0]].KEYS[key] != stated:
                raise ValueError(f"kind {name!r} states the key {key!r} otherwise than kind {others[0]!r}")
            others.append(name)
    return owners


def without_description(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if key != "description"}
