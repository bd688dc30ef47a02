"""Messages for a configuration that does not fit its schema: what is wrong and what is expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jsonschema import ValidationError

from ranktrial.common.errors import is_blank, shortened
from ranktrial.common.keys import JsonObject, keys_of
from ranktrial.common.wording import finite, hint
from ranktrial.configuration import dataset_keys, system_keys
from ranktrial.configuration.key_schema import Schema

MOST_KEYS = 4  # that a message lists of a mapping


def keys_of_entry(path: Sequence[str | int], entry: JsonObject) -> list[str]:
    """Return the keys of a system's type or a dataset's format; empty for another place, or an unknown type."""
    if len(path) != 2:
        return []
    if path[0] == "systems":
        named = entry.get("type")
        modules = system_keys.modules()
        meant = [module for name, module in modules.items() if module.TYPE.typed == (named is not None)]
        if named is not None:
            meant = [modules[str(named)]] if str(named) in system_keys.types() else []
        records: list[type] = [module.Keys for module in meant]
        keys = dict.fromkeys(key for record in records for key in keys_of(record))
        return sorted({"type", *keys}) if keys else []
    form = str(entry.get("format"))
    if path[0] == "datasets" and form in dataset_keys.formats():
        return sorted({"format", *dataset_keys.keys_of_format(form)})
    return []


MEANT = {"class": "ranker"}  # words that do not look like the key they stand for
KINDS = {"object": "a mapping", "array": "a list", "string": "text", "number": "a number", "integer": "a whole number",
         "boolean": "true or false", "null": "null"}  # fmt: skip
LIMITS = {"minimum": "of at least", "exclusiveMinimum": "above", "maximum": "of at most", "exclusiveMaximum": "below",
          "maxLength": "of at most"}  # fmt: skip
TOO = {"minimum": "too small", "exclusiveMinimum": "too small", "maximum": "too large", "exclusiveMaximum": "too large"}


def kind(value: object) -> str:
    """Return the type of a value, as text."""
    names = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return KINDS[names.get(type(value), "null")]


def expected(schema: Schema) -> str:
    """Return a description of what a (sub)schema allows: its title if it has one."""
    if "title" in schema:
        title: str = schema["title"]
        return title
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(expected(part) for part in schema["anyOf"]))
    if "const" in schema:
        return _written(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    types = schema.get("type", [])
    words = " or ".join(KINDS[name] for name in ([types] if isinstance(types, str) else types))
    parts = f" (each entry {expected(schema['items'])})" if types == "array" and "items" in schema else ""
    if types == "object" and "properties" in schema:
        names = [*schema.get("required", ()), *schema["properties"]]
        shown = list(dict.fromkeys(names))[:MOST_KEYS]
        parts = f" (keys {', '.join(shown)}{', …' if len(shown) < len(schema['properties']) else ''})"
    return " ".join([words, _limits(schema)]).strip() + parts


def _limits(schema: Schema) -> str:
    """Return the bounds of a number or of a text's length, as text; empty without any."""
    if "minimum" in schema and "maximum" in schema:
        return f"from {schema['minimum']} to {schema['maximum']}"
    limits = [f"{limit} {schema[key]}" + (" characters" if key == "maxLength" else "")
              for key, limit in LIMITS.items() if key in schema]  # fmt: skip
    return " and ".join(limits).replace("and of", "and")


def best_match(errors: list[ValidationError]) -> ValidationError:
    """Return the error to report: the one nearest to the top; for `anyOf`, that of the probable alternative."""
    error = min(errors, key=lambda candidate: len(candidate.path))
    while error.validator == "anyOf":
        alternatives: dict[str | int, list[ValidationError]] = {}
        for cause in error.context:
            alternatives.setdefault(cause.schema_path[0], []).append(cause)
        meant = [causes for causes in alternatives.values() if not any(_of_another_kind(cause) for cause in causes)]
        if len(meant) != 1:
            break
        error = min(meant[0], key=lambda candidate: len(candidate.path))
    return error


def _of_another_kind(error: ValidationError) -> bool:
    """Whether an alternative of `anyOf` failed because it is for values of another type or for fixed values."""
    return not error.path and error.validator in ("type", "const", "enum")


def describe(error: ValidationError, source: str, origins: dict[tuple[str, str], str]) -> str:
    """Return one line with the file, the key, what is wrong and what is expected.

    `source` is the file name; `origins` maps (section, fanned-out name) to the name in the file.
    """
    path = list(error.absolute_path)
    if len(path) > 1:
        path[1] = origins.get((str(path[0]), str(path[1])), path[1])
    keys = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{shortened(part)[1:-1]}" for part in path)
    where = ": ".join([source, *([keys.lstrip(".")] if keys else [])])
    return f"{where}: {_problem(error, path, origins)}"


def _problem(error: ValidationError, path: list[str | int], origins: dict[tuple[str, str], str]) -> str:
    assert isinstance(error.schema, dict)  # errors of a part `false` belong to the mapping around it
    value: Any = error.instance
    schema: Schema = dict(error.schema)
    if error.validator == "additionalProperties":
        allowed = sorted(schema.get("properties", {}))
        unknown = next(key for key in value if key not in allowed)
        own = keys_of_entry(path, value) or allowed
        meant = hint(MEANT.get(unknown, unknown), own) or hint(unknown, allowed)
        return f"unknown key {shortened(unknown)}{meant or '; allowed are ' + ', '.join(own)}"
    if error.validator == "required":
        return f"key {next(key for key in schema['required'] if key not in value)!r} is missing"
    if error.validator in ("minItems", "minProperties"):
        if not value:
            return "is empty; expected at least one entry"
        return f"has {len(value)} of the {error.validator_value} entries that are expected at least"
    if error.validator == "uniqueItems":
        duplicate = next(entry for number, entry in enumerate(value) if entry in value[:number])
        return f"duplicate entry {_written(duplicate)}; expected each entry once"
    if "propertyNames" in error.schema_path:
        entry = origins.get((str(path[0]), value), value) if len(path) == 1 else value
        made = f" (made of {shortened(entry)})" if entry != value else ""
        return f"bad name {shortened(value)}{made}: {_of_text(value, error)}; expected {expected(schema)}"
    if error.validator in TOO:
        return f"{_written(value)} is {TOO[error.validator]}; expected {expected(schema)}"
    if error.validator == "enum" and isinstance(value, str):
        meant = hint(value, map(str, schema["enum"]))
        return f"unknown value {shortened(value)}{meant}; expected {expected(schema)}"
    if error.validator in ("pattern", "minLength", "maxLength"):
        return f"{shortened(value)} {_of_text(value, error)}; expected {expected(schema)}"
    if error.validator == "anyOf" and isinstance(value, str):
        words = [str(part["const"]) for part in schema["anyOf"] if isinstance(part.get("const"), str)]
        if meant := hint(value, words):
            return f"unknown value {shortened(value)}{meant}; expected {expected(schema)}"
    if value is None:
        return f"has no value (null); expected {expected(schema)}, or leave the key out"
    message = f"{_written(value)} is {_kind_beside(value, schema)}; expected {expected(schema)}"
    return message + _hint(value, schema)


def _kind_beside(value: object, schema: Schema) -> str:
    """Return the type of a value, worded so that it differs from the expected type."""
    return "not a whole number" if isinstance(value, float) and _types(schema) == {"integer"} else kind(value)


def _of_text(text: str, error: ValidationError) -> str:
    if not text:
        return "is empty"
    if is_blank(text):
        return "is blank"
    if error.validator == "maxLength":
        return f"has {len(text):,} characters, but at most {error.validator_value:,} are allowed"
    return "does not fit"


def _types(schema: Schema) -> set[str]:
    types = {kind for way in schema.get("anyOf", []) for kind in _types(way)}
    types |= {"string"} if any(isinstance(one, str) for one in schema.get("enum", [])) else set()
    return types | ({schema["type"]} if "type" in schema else set())


def _hint(value: object, schema: Schema) -> str:
    """Return a hint in brackets on how to write the value that was probably meant; empty if there is none."""
    types = _types(schema)
    number = finite(value) if isinstance(value, str) and types & {"number", "integer"} else None
    if number is not None and ("number" in types or number.is_integer()):
        return f" (it is text, in quotes or to YAML: write {_written(number)})"
    if isinstance(value, str) and "boolean" in types and value.lower() in ("true", "false", "yes", "no", "on", "off"):
        return f" (write {'true' if value.lower() in ('true', 'yes', 'on') else 'false'} without quotes)"
    if isinstance(value, bool) and "string" in types:
        return " (to YAML, yes, no, on and off are true and false: put the text in quotes)"
    if isinstance(value, int | float) and "string" in types:
        return " (put it in quotes if it is a text)"
    if not isinstance(value, list | dict) and types == {"array"}:
        return f" (write [{_written(value)}])"
    return ""


def _written(value: object) -> str:
    """Return a value as written in YAML, shortened to fit a line."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        digits, sign, power = repr(value).partition("e")
        return f"{digits}{'' if '.' in digits or not sign else '.0'}{sign}{power}"
    return shortened(value)
