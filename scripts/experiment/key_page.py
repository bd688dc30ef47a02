"""The page of all keys, docs/configuration.md, from the schema that the declarations make; reads and writes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

from scripts.experiment.key_schema import Schema
from scripts.experiment.verdicts import expected

HEAD = """\
# The keys of a configuration

Made by `make schema` from the declarations in `scripts/experiment/sections/` and of each kind. A key without a default
is needed where it says so, and has no value where it is left out. A list in place of a value of a model, recipe, system
or comparison makes several of them. [config/README.md](../config/README.md) names examples.
"""
COLUMNS = "| key | value | default | meaning |\n|---|---|---|---|"


def key_page(schema: Schema) -> str:
    """The page, with a table for the whole experiment and one for each section."""
    properties = schema["properties"]
    sections = {name: part for name, part in properties.items() if _entry(part)}
    whole = {name: part for name, part in properties.items() if name not in sections}
    parts = [HEAD, "## The experiment", "", _table({"properties": whole, "required": schema["required"]})]
    for name, part in sections.items():
        parts += ["", f"## {name}", "", f"{_sentence(part['description'])}", "", _table(_entry(part))]
    return "\n".join(parts) + "\n"


def _entry(part: Schema) -> Schema:
    """The schema of a section's entries; empty for what is no section of named entries."""
    entry = part.get("additionalProperties")
    return entry if isinstance(entry, dict) and "properties" in entry else {}


def _table(part: Schema) -> str:
    return "\n".join([COLUMNS, *(f"| {' | '.join(row)} |" for row in _rows(part, ""))])


def _rows(part: Schema, above: str) -> Iterator[list[str]]:
    """The rows of a mapping's keys, each followed by the keys inside it."""
    for name, inner in part["properties"].items():
        key = f"{above}{name}"
        default = "needed" if name in part.get("required", ()) else _default(inner)
        yield [f"`{key}`", _cell(_value(inner)), default, _cell(inner.get("description", ""))]
        for deeper in (inner, *inner.get("anyOf", ())):
            if "properties" in deeper:
                yield from _rows(deeper, f"{key}.")
        if entry := _entry(inner):
            yield from _rows(entry, f"{key}.NAME.")


def _value(part: Schema) -> str:
    return "keys below" if "properties" in part else expected(part)


def _default(part: Schema) -> str:
    default = part.get("default")
    return "" if default is None else f"`{json.dumps(default, ensure_ascii=False)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
