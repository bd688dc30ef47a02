"""A script's settings: one frozen dataclass each, read from the JSON object that its rule gives under `--settings`.

A field's meaning stands in its type: `depth: Annotated[int, "documents per query that are kept"]`. A field without a
default is required. Values are checked, and never converted: what a job computes with is what the configuration says.
A key that is a word of Python has an underscore behind it as a field: `from_` holds the key `from`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Annotated, Any, TypeVar

from scripts.common.errors import UserError

Settings = TypeVar("Settings")


def read_settings(kind: type[Settings], values: dict[str, Any], place: str = "--settings") -> Settings:
    """The dataclass `kind` of these values. Raises UserError for a key that is unknown, missing or of another type."""
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = {_key(field): field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if not isinstance(values, dict):
        raise UserError(f"{place}: expected an object, not {_words(values)}")
    if unknown := [name for name in values if name not in fields]:
        raise UserError(f"{place}: unknown key {unknown[0]!r}; expected are {', '.join(fields)}")
    if missing := [name for name, field in fields.items() if name not in values and _required(field)]:
        raise UserError(f"{place}: key {missing[0]!r} is missing")
    checked = {}
    for key, value in values.items():
        name = fields[key].name
        checked[name] = _checked(hints[name], value, f"{place}: {key}")
    return kind(**checked)


def given(settings: Any) -> dict[str, Any]:
    """The keys and values of a settings dataclass, without those that have their default: what a job was given."""
    values = {field: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    return {_key(field): value for field, value in values.items() if _required(field) or value != _default(field)}


def help_of(kind: type) -> str:
    """The fields of a settings dataclass, one line each: name, type, default and meaning."""
    hints = typing.get_type_hints(kind, include_extras=True)
    lines = []
    for field in dataclasses.fields(kind):
        meaning = ", ".join(hints[field.name].__metadata__) if typing.get_origin(hints[field.name]) is Annotated else ""
        default = "" if _required(field) else f" (default: {_default(field)!r})"
        lines.append(f"  {_key(field)}: {_name(_plain(hints[field.name]))}{default}{'  ' + meaning if meaning else ''}")
    return "\n".join(lines)


def _key(field: dataclasses.Field) -> str:
    """The key of the JSON object that a field holds."""
    return field.name.removesuffix("_")


def _required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _default(field: dataclasses.Field) -> Any:
    return field.default if field.default is not dataclasses.MISSING else field.default_factory()  # type: ignore[misc]


def _plain(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint).replace("typing.", "")


def _words(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"[:120]


def _checked(hint: Any, value: Any, place: str) -> Any:
    """The value, where it is of the type; dataclasses, also in lists and mappings, are read from their objects."""
    hint = _plain(hint)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint):
        return read_settings(hint, value, place)  # type: ignore[type-var]
    if origin is list and isinstance(value, list) and _holds_dataclass(hint):
        return [_checked(inner[0], item, f"{place}[{number}]") for number, item in enumerate(value)]
    if origin is dict and isinstance(value, dict) and _holds_dataclass(hint):
        return {key: _checked(inner[1], item, f"{place}.{key}") for key, item in value.items()}
    if value is not None and type(None) in inner and _holds_dataclass(hint):
        return _checked(next(part for part in inner if part is not type(None)), value, place)
    if not _fits(hint, value):
        raise UserError(f"{place}: expected {_name(hint)}, not {_words(value)}")
    return value


def _holds_dataclass(hint: Any) -> bool:
    return dataclasses.is_dataclass(hint) or any(map(_holds_dataclass, typing.get_args(hint)))


def _fits(hint: Any, value: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin is Annotated:
        return _fits(inner[0], value)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(option, value) for option in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is list:
        return isinstance(value, list) and all(_fits(inner[0], item) for item in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(inner[0], k) and _fits(inner[1], v) for k, v in value.items())
    if hint is float:  # JSON writes 1.0 as it likes
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, type(None) if hint is None else hint)
