"""The JSON schema of a record's keys, from its declaration (ranktrial/common/keys.py); reads and writes nothing."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from typing import Annotated, Any

from ranktrial.common.keys import NO_KEY, NULL, OTHERS, Key, Rule, Written, keys_of, plain

Schema = dict[str, Any]  # of JSON Schema
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def of_record(record: type) -> Schema:
    """Return the schema of a mapping with the keys of a record and, unless it is marked OTHERS, no others."""
    every = keys_of(record).values()
    keys = [key for key in every if not key.is_marked(NO_KEY) and not key.is_marked(OTHERS)]
    required = [key.name for key in keys if key.required]
    others = [of_type(typing.get_args(key.type)[1]) for key in every if key.is_marked(OTHERS)]
    schema: Schema = {"type": "object"}
    schema |= {"additionalProperties": others[0] if others else False} if others != [{}] else {}
    schema |= {"required": required} if required else {}
    return schema | {"properties": {key.name: of_key(key) for key in keys}}


def of_key(key: Key) -> Schema:
    """Return the schema of a key: description, type, bounds, default."""
    written = next((one.type for one in key.said if isinstance(one, Written)), key.type)
    if key.default is None and not key.is_marked(NULL):
        schema = of_type(key.type_of_values) | _of_rules(key.said)
    else:
        schema = of_type(written) | _of_rules(key.said) | ({} if key.required else {"default": plain(key.default)})
    about = {"description": key.description} if key.description else {}
    return about | {name: value for name, value in schema.items() if name not in about}


def of_type(hint: Any) -> Schema:
    """Return the schema of a type, with the description and rules in its annotation."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        about = {"description": said for said in inner[1:] if isinstance(said, str)}  # noqa: B035 (one at most)
        return about | of_type(inner[0]) | _of_rules(inner[1:])
    if dataclasses.is_dataclass(hint):
        return of_record(typing.cast(type, hint))
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_alternative(one) for one in inner]}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if hint is type(None):
        return {"const": None}
    if origin in (tuple, list):
        return {"type": "array", "items": of_type(inner[0])}
    if origin in (dict, collections.abc.Mapping):
        return {"type": "object"} | _of_mapping(*inner)
    return {} if hint in (Any, object) else {"type": TYPES[hint]}


def _alternative(hint: Any) -> Schema:
    """Return the schema of one of several types; a literal with one value becomes a constant."""
    words = typing.get_args(hint) if typing.get_origin(hint) is typing.Literal else ()
    return {"const": words[0]} if len(words) == 1 else of_type(hint)


def _of_mapping(names: Any, values: Any) -> Schema:
    """Return the part of a mapping's schema that describes its keys and values."""
    if typing.get_origin(names) is typing.Literal:
        return {"additionalProperties": False, "properties": dict.fromkeys(typing.get_args(names), of_type(values))}
    rules = _of_rules(typing.get_args(names)[1:])
    return ({"propertyNames": {"type": "string"} | rules} if rules else {}) | {"additionalProperties": of_type(values)}


def _of_rules(said: typing.Iterable[Any]) -> Schema:
    """Return the rules in the annotations of a type, by their JSON Schema names."""
    rules = [one for one in said if isinstance(one, Rule)]
    return {_camel(name): value for rule in rules for name, value in vars(rule).items() if value is not None}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))
