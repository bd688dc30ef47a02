"""Settings of scripts and records of results: frozen dataclasses, read from JSON and written as JSON.

A script's settings are one dataclass, read from the JSON object that its rule passes as `--settings`. The meaning of a
field is in its type: `depth: Annotated[int, "documents per query that are kept"]`. A field without a default is
required. Values are checked and not converted, except from JSON's lists to tuples, so that a job computes with what the
configuration says. The sections of a configuration are read in the same way (see keys.py).

Records of results are stored as JSON and read like settings. A field without a default is always written; a field equal
to its default is left out. Tuples are lists in JSON. The keys of a field marked INLINE (keys.py) are keys of the outer
object, so that a record with parts is one flat object in its file.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import json
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text
from ranktrial.common.keys import INLINE, OTHERS, Key, keys_of
from ranktrial.common.keys import given as given  # imported together with read_settings

Settings = TypeVar("Settings")


def read_settings(kind: type[Settings], values: Mapping[str, Any], place: str = "--settings") -> Settings:
    """The dataclass `kind` of these values. Raises UserError for unknown or missing keys and values of another type."""
    keys = keys_of(kind)
    if not isinstance(values, dict):
        raise UserError(f"{place}: expected an object, not {_words(values)}")
    for key in keys.values():
        values = _gathered(key, values) if key.is_marked(INLINE) else values
    if others := next((key for key in keys.values() if OTHERS in key.said), None):
        named = {name: value for name, value in values.items() if name in keys}
        values = named | {others.name: {name: value for name, value in values.items() if name not in keys}}
    if unknown := [name for name in values if name not in keys]:
        raise UserError(f"{place}: unknown key {unknown[0]!r}; expected {', '.join(keys)}")
    if missing := [name for name, key in keys.items() if name not in values and key.required]:
        raise UserError(f"{place}: key {missing[0]!r} is missing")
    found = {}
    for name, value in values.items():
        inside = place if keys[name].is_marked(INLINE) else f"{place}: {name}"
        found[keys[name].field] = _read(keys[name].type, value, inside)
    return kind(**found)


def _gathered(inline: Key, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values, with those of an inline record under its key: the first of its types whose keys are all there."""
    there = next((record for record in inline.records if _has_keys(record, values)), None)
    if there is None and not inline.required:
        return values
    names = _names(there or inline.records[0])
    others = {name: value for name, value in values.items() if name not in names}
    return others | {inline.name: {name: value for name, value in values.items() if name in names}}


def _has_keys(record: type, values: Mapping[str, Any]) -> bool:
    """Whether all required keys of a record, including those of inline records, are there."""
    return all(
        any(_has_keys(one, values) for one in key.records) if key.is_marked(INLINE) else key.name in values
        for key in keys_of(record).values()
        if key.required
    )


def _names(record: type) -> set[str]:
    """The keys of a record, including those of inline records."""
    found = set()
    for key in keys_of(record).values():
        found |= set().union(*map(_names, key.records)) if key.is_marked(INLINE) else {key.name}
    return found


def help_of(kind: type) -> str:
    """The fields of a settings dataclass, one line each: name, type, default and meaning."""
    lines = []
    for key in keys_of(kind).values():
        default = "" if key.required else f" (default: {key.default!r})"
        meaning = f"  {key.description}" if key.description else ""
        lines.append(f"  {key.name}: {_name(key.type)}{default}{meaning}")
    return "\n".join(lines)


def _read(hint: Any, value: Any, place: str) -> Any:
    """The value, if it has this type; dataclasses, also in lists and mappings, are read from their objects."""
    hint = _plain(hint)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        if isinstance(value, typing.cast(type, hint)):
            return value
        return read_settings(typing.cast(type, hint), value, place)
    if origin in (typing.Union, types.UnionType):
        return _read_one_of(hint, value, place)
    if origin in (list, tuple) and isinstance(value, list | tuple) and _holds_record(hint):
        return origin(_read(inner[0], one, f"{place}[{number}]") for number, one in enumerate(value))
    if origin in MAPPINGS and isinstance(value, dict) and _holds_record(hint):
        return {key: _read(inner[1], one, f"{place}.{key}") for key, one in value.items()}
    if not _fits(hint, value):
        raise UserError(f"{place}: expected {_name(hint)}, not {_words(value)}")
    return tuple(value) if origin is tuple else value


def _read_one_of(hint: Any, value: Any, place: str) -> Any:
    """The value as the first of several types that it has; errors are those of the type that was meant."""
    options = typing.get_args(hint)
    fitting = [option for option in options if _fits(option, value)]
    records = [option for option in options if _holds_record(option) and isinstance(value, dict | list)]
    if not fitting and not records:
        raise UserError(f"{place}: expected {_name(hint)}, not {_words(value)}")
    return _read((fitting or records)[0], value, place)


def _holds_record(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or any(map(_holds_record, typing.get_args(hint)))


def _plain(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _name(hint: Any) -> str:
    """A type as text, without its annotations."""
    hint = _plain(hint)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " | ".join("None" if one is type(None) else _name(one) for one in inner)
    if origin is typing.Literal:
        return " or ".join(map(repr, inner))
    if inner:
        within = ", ".join("..." if one is ... else _name(one) for one in inner)
        return f"{origin.__name__}[{within}]"
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")


def _words(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"[:120]


def _fits(hint: Any, value: Any) -> bool:
    hint = _plain(hint)
    inner = typing.get_args(hint)
    if hint is Any:
        return True
    if dataclasses.is_dataclass(hint):
        record = typing.cast(type, hint)
        return isinstance(value, record) or (isinstance(value, dict) and _has_keys(record, value))
    if inner or hint in (int, float):  # for a list or mapping of any values, only the class is checked
        check = FITTING.get(typing.get_origin(hint) or hint)
        return check is not None and check(inner, value)
    return isinstance(value, type(None) if hint is None else hint)


def _fits_mapping(inner: tuple[Any, ...], value: Any) -> bool:
    return isinstance(value, dict) and all(_fits(inner[0], key) and _fits(inner[1], one) for key, one in value.items())


def _fits_list(inner: tuple[Any, ...], value: Any) -> bool:
    return isinstance(value, list | tuple) and all(_fits(inner[0], one) for one in value)


def _fits_tuple(inner: tuple[Any, ...], value: Any) -> bool:
    if not inner or inner[-1] is Ellipsis:
        return _fits_list(inner, value)
    return isinstance(value, list | tuple) and len(value) == len(inner) and all(map(_fits, inner, value))


def _fits_union(inner: tuple[Any, ...], value: Any) -> bool:
    return any(_fits(option, value) for option in inner)


MAPPINGS = (dict, collections.abc.Mapping)
FITTING: dict[Any, Callable[[tuple[Any, ...], Any], bool]] = {
    typing.Union: _fits_union,
    types.UnionType: _fits_union,
    typing.Literal: lambda inner, value: value in inner,
    list: _fits_list,
    tuple: _fits_tuple,
    dict: _fits_mapping,
    collections.abc.Mapping: _fits_mapping,
    float: lambda _, value: isinstance(value, int | float) and not isinstance(value, bool),  # 1 may stand for 1.0
    int: lambda _, value: isinstance(value, int) and not isinstance(value, bool),
}


Record = TypeVar("Record")


def read_record(kind: type[Record], path: Path) -> Record:
    """The record of a JSON file. Raises UserError, with file and key, if it does not match."""
    return read_settings(kind, json.loads(path.read_text(encoding="utf-8")), str(path))


def write_record(path: Path, record: Any, indent: int = 2, ensure_ascii: bool = True) -> None:
    """Write a record as JSON."""
    write_text(path, json.dumps(given(record), indent=indent, allow_nan=False, ensure_ascii=ensure_ascii) + "\n")
