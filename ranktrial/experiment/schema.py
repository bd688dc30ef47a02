"""The JSON schema of an experiment's configuration, from the records of its sections and the keys of plug-ins.

reading.py adds the defaults to the configuration. A key whose default is null is left out if it has no value.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

from ranktrial.experiment import system_types
from ranktrial.experiment.dataset_schema import dataset_schema
from ranktrial.experiment.key_schema import Schema, of_record
from ranktrial.experiment.plugin_keys import CHOICES, MODERATORS, Choice, declared, owners_of, records
from ranktrial.experiment.sections.configuration import Configuration


@cache
def schema() -> Schema:
    """Return the whole schema, which is cached: callers must not modify it."""
    whole = of_record(Configuration)
    for section, record in records().items():
        whole["properties"][section]["additionalProperties"] = of_record(record)
    for choice in CHOICES:
        add_plugins(entry_of(whole, choice.section), choice, declared(choice.package))
    of_comparison = entry_of(whole, "comparisons")["properties"]
    for part in (of_comparison["moderators"]["items"], of_comparison["subgroups"]):
        add_moderators(part)
    whole["properties"]["datasets"]["additionalProperties"] = dataset_schema()
    systems = {"type": "object", "additionalProperties": False, "properties": system_types.keys()}
    whole["properties"]["systems"]["additionalProperties"] = systems
    return whole


def entry_of(whole: Schema, section: str) -> Schema:
    """Return the schema of an entry of a section."""
    entry: Schema = whole["properties"][section]["additionalProperties"]
    return entry


def add_plugins(entry: Schema, choice: Choice, modules: dict[str, ModuleType]) -> None:
    """Add the plug-ins to the selecting key, and name in each plug-in key's description those that have it."""
    choosing = entry["properties"][choice.key]
    choosing.pop("type", None)
    choosing["enum"] = list(modules)
    described = [f"{name}: {module.DESCRIPTION}" for name, module in modules.items() if hasattr(module, "DESCRIPTION")]
    choosing["description"] = "; ".join([*filter(None, [choosing.get("description")]), *described])
    for key, part in entry["properties"].items():
        if owners := owners_of(key, modules):
            part["description"] = f"{', '.join(owners)}: {part['description']}"


def add_moderators(part: Schema) -> None:
    """Add the known moderators as values, besides the alternative of a column of a file."""
    known = declared(MODERATORS)
    part["anyOf"][0] = {"enum": list(known)}
    described = [f"{name}: {module.DESCRIPTION}" for name, module in known.items()]
    own = "a moderator known for each task, or a column of a TSV file: task, then columns of numbers or text"
    part["description"] = "; ".join([*filter(None, [part.get("description")]), own, *described])
