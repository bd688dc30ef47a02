"""Records of results: frozen dataclasses that are kept as JSON, written and read here alone.

A field without a default is always written; one that has its default is left out. Tuples are lists in JSON. A field
with the metadata INLINE holds a dataclass whose keys stand among those of the outer object, so that a record is one
flat object in its file and has parts in code.
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

from scripts.common.errors import UserError

Record = TypeVar("Record")
INLINE = {"inline": True}  # metadata of such a field
_UNIONS = (typing.Union, types.UnionType)


def read_record(kind: type[Record], path: Path) -> Record:
    """The record of a JSON file. Raises UserError, with file and key, for what does not fit."""
    return record_of(kind, json.loads(path.read_text(encoding="utf-8")), str(path))


def write_record(record: Any, file: TextIO, indent: int = 2, ensure_ascii: bool = True) -> None:
    """Write a record as JSON."""
    json.dump(as_json(record), file, indent=indent, allow_nan=False, ensure_ascii=ensure_ascii)
    file.write("\n")


def record_of(kind: type[Record], values: Any, place: str) -> Record:
    """The record of these values. Raises UserError for a key that is unknown, missing or of another type."""
    if not isinstance(values, dict):
        raise UserError(f"{place}: expected an object, not {type(values).__name__}")
    hints, left, found = typing.get_type_hints(kind), dict(values), {}
    for field in _fields(kind):
        hint = hints[field.name]
        part = _dataclass_for(hint, left) if _is_inline(field) else None
        if part is not None:
            own = {key: left.pop(key) for key in _keys(part) if key in left}
            found[field.name] = record_of(part, own, place)
        elif field.name in left:
            found[field.name] = _made(hint, left.pop(field.name), f"{place}: {field.name}")
        elif _required(field):
            missing = _missing(field, hint, left)
            raise UserError(f"{place}: key {missing!r} is missing")
    if left:
        raise UserError(f"{place}: unknown key {next(iter(left))!r}")
    return kind(**found)


def as_json(value: Any) -> Any:
    """A record, or a part of one, as plain values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dict(_items(value))
    if isinstance(value, Mapping):
        return {key: as_json(inner) for key, inner in value.items()}
    return [as_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def _items(record: Any) -> Iterator[tuple[str, Any]]:
    """The keys and values of a record in the order of its fields."""
    for field in _fields(type(record)):
        value = getattr(record, field.name)
        if _is_inline(field):
            yield from _items(value) if value is not None else ()
        elif _required(field) or value != _default(field):
            yield field.name, as_json(value)


def _missing(field: dataclasses.Field, hint: Any, values: dict[str, Any]) -> str:
    """The key that a required field lacks: its own, or of one that is inline the first of its dataclass."""
    if not _is_inline(field):
        return field.name
    return next(inner.name for inner in _fields(_dataclasses(hint)[0]) if inner.name not in values and _required(inner))


def _made(hint: Any, value: Any, place: str) -> Any:
    """The value as its type says: objects become dataclasses, lists tuples."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        if value is None and type(None) in inner:
            return None
        kinds = _dataclasses(hint) if isinstance(value, dict) else []
        alone = kinds[0] if len(kinds) == 1 and not any(typing.get_origin(one) is dict for one in inner) else None
        hint = _dataclass_for(hint, value) or alone or next((one for one in inner if _may_be(one, value)), hint)
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return record_of(typing.cast(type, hint), value, place)
    if isinstance(value, list) and origin in (list, tuple):
        kinds = inner if origin is tuple and inner[-1] is not Ellipsis else inner[:1] * len(value)
        if len(kinds) != len(value):
            raise UserError(f"{place}: expected {len(kinds)} values, not {len(value)}")
        return origin(_made(kind, one, f"{place}[{n}]") for n, (kind, one) in enumerate(zip(kinds, value, strict=True)))
    if isinstance(value, dict) and origin is dict:
        return {key: _made(inner[1], one, f"{place}.{key}") for key, one in value.items()}
    if origin in (*_UNIONS, list, tuple, dict) or not _is(hint, value):
        raise UserError(f"{place}: expected {hint}, not {value!r:.80}")
    return value


def _may_be(hint: Any, value: Any) -> bool:
    """Whether a value of JSON may be of a type, by its container or as a plain value."""
    containers = {list: list, tuple: list, dict: dict}
    container = containers.get(typing.get_origin(hint))
    return isinstance(value, container) if container else _is(hint, value)


def _is(hint: Any, value: Any) -> bool:
    """Whether a value is of a plain type; JSON writes 1.0 as it likes."""
    if hint in (int, float):
        return isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
    return hint is Any or (isinstance(hint, type) and isinstance(value, hint))


def _dataclass_for(hint: Any, value: Any) -> type | None:
    """The first dataclass among the options of a type whose required keys are all there."""
    return next((kind for kind in _dataclasses(hint) if isinstance(value, dict) and _has_keys(kind, value)), None)


def _has_keys(kind: type, values: dict[str, Any]) -> bool:
    """Whether all required keys of a dataclass are there, also of those that stand among them."""
    hints = typing.get_type_hints(kind)
    return all(
        _dataclass_for(hints[field.name], values) is not None if _is_inline(field) else field.name in values
        for field in _fields(kind)
        if _required(field)
    )


def _dataclasses(hint: Any) -> list[type]:
    """The dataclasses among the options of a type."""
    options = typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else (hint,)
    return [one for one in options if dataclasses.is_dataclass(one)]


def _keys(kind: type) -> list[str]:
    """The keys of a dataclass, with those of the dataclasses that stand among them."""
    hints, found = typing.get_type_hints(kind), []
    for field in _fields(kind):
        parts = _dataclasses(hints[field.name]) if _is_inline(field) else []
        found += [key for part in parts for key in _keys(part)] if parts else [field.name]
    return found


def _fields(kind: type) -> tuple[dataclasses.Field, ...]:
    return dataclasses.fields(kind)  # type: ignore[arg-type]


def _is_inline(field: dataclasses.Field) -> bool:
    return field.metadata.get("inline", False)


def _required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: dataclasses.Field) -> Any:
    return field.default if field.default is not dataclasses.MISSING else field.default_factory()  # type: ignore[misc]
