"""The keys of systems: those of each type of system, which are modules of ranktrial/experiment/systems/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Protocol, cast

from ranktrial.common import plugins
from ranktrial.common.keys import JsonObject, extended, keys_of
from ranktrial.common.settings import read_settings
from ranktrial.configuration.checker import Source
from ranktrial.configuration.key_schema import Schema, of_record
from ranktrial.configuration.sections.configuration import Labelled as Labelled
from ranktrial.configuration.sections.configuration import Made as Made
from ranktrial.models.model_keys import Model


class TypeOfEntry(Protocol):
    """What decides which type of system an entry is; experiment/system_types.py has the whole interface."""

    typed: bool  # an entry names it under `type`; otherwise `implied` decides from the other keys

    def implied(self, models: Mapping[str, Model], entry: Mapping[str, Any]) -> bool:
        """Whether an entry without a type is of this type."""


class SystemModule(Protocol):
    """The names that the module of a system type defines.

    It may also define REFERENCES: key paths that name entries -> the section of these entries.
    """

    NAME: str
    Keys: type[Labelled]  # the record of an entry
    PLAIN_LISTS: list[tuple[str, ...]]  # key paths at which a list is a single value and does not fan out
    TYPE: TypeOfEntry  # an instance of a class derived from SystemType


PACKAGE = "ranktrial.experiment.systems"


@cache
def modules() -> dict[str, SystemModule]:
    """Return type name -> its module."""
    return cast(dict[str, SystemModule], plugins.load_all(PACKAGE))


def read_system(check: Source, name: str, entry: JsonObject, models: Mapping[str, Model]) -> Labelled:
    """Return an entry with the keys of its type. Raises UserError for an unknown type or keys of other types."""
    key, typed = f"systems.{name}", "type" in entry
    meant = {name: module for name, module in modules().items() if module.TYPE.typed == typed}
    if typed:
        named = str(entry["type"])
        meant = {named: meant[named]}
    keys: list[Any] = [module.Keys for module in meant.values()]
    record = extended(Labelled, *keys)
    what = f"a system of type {entry['type']}" if typed else "a system without a type (so one with a model)"
    said = {one: value for one, value in entry.items() if one != "type"}
    _check_own(check, key, what, said, record)
    if not typed and "model" not in entry:
        raise check.fail(key, f"a system needs {', '.join(f'type: {name}' for name in types())} or a model")
    chosen = named if typed else next(one for one in meant if meant[one].TYPE.implied(models, entry))
    return cast(Labelled, read_settings(record, said | {"type": chosen}, f"{check.source}: {key}"))


def _check_own(check: Source, key: str, what: str, entry: JsonObject, record: type) -> None:
    """Raise UserError if an entry, or a mapping in it, has keys of other types."""
    allowed = keys_of(record)
    check.refuse_alien(key, what, entry, allowed)
    for part, value in entry.items():
        inner = allowed[part].type_of_values
        if is_dataclass(inner):
            check.refuse_alien(f"{key}.{part}", what, cast(JsonObject, value), keys_of(cast(type, inner)), " there")


def types() -> list[str]:
    """Return the possible values of a system's `type`."""
    return [name for name, module in modules().items() if module.TYPE.typed]


def keys() -> dict[str, Schema]:
    """Return the JSON schema of the keys of all systems; the description of a shared key is that of all its types."""
    message = "the type of the system; not needed for a system with a model"
    together: dict[str, Schema] = {"type": {"description": message, "enum": types()}}
    for module in modules().values():
        for key, schema in of_record(module.Keys)["properties"].items():
            together[key] = _merged(together[key], schema) if key in together else schema
    return together


def _merged(first: Schema, second: Schema) -> Schema:
    """Return the schema of a shared key, with the descriptions and properties of both; all else must be equal."""
    if first == second:
        return first
    words = [schema.get("description", "") for schema in (first, second)]
    said = words[0] if words[1] in words[0] else "; ".join(filter(None, words))
    merged = first | second | ({"description": said} if said else {})
    if "properties" in first and "properties" in second:
        merged["properties"] = first["properties"] | second["properties"]
    alike = (first.keys() | second.keys()) - {"description", "properties"}
    if any(first.get(key) != second.get(key) for key in alike):
        raise ValueError(f"two types of systems declare one key differently: {first} and {second}")
    return merged


def references() -> dict[tuple[str, ...], str]:
    """Return the key paths of systems that name entries -> the section of these entries."""
    found = [getattr(module, "REFERENCES", {}) for module in modules().values()]
    return {path: section for one in found for path, section in one.items()}


def plain_lists() -> list[tuple[str, ...]]:
    """Return the key paths of systems at which a list is a single value and does not fan out."""
    return list(dict.fromkeys(path for module in modules().values() for path in module.PLAIN_LISTS))
