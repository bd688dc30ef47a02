"""A configuration as YAML text with the description of each key as a comment; reads and writes nothing.

If the meaning of a key depends on the entry (dataset format, type of system or model), only the part for this entry is
written.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import yaml

from ranktrial.configuration.dataset_keys import formats
from ranktrial.configuration.key_schema import Schema
from ranktrial.configuration.schema import schema
from ranktrial.configuration.system_keys import types
from ranktrial.models.adapters import adapters

WIDTH = 118
Path = tuple[str, ...]


def page(head: Sequence[str], sections: dict[str, Any]) -> str:
    """Return the text of a configuration: comment lines, then each section with its keys."""
    said: set[str] = set()
    parts = ["\n".join(_comment(line, "") for line in head)]
    for name, value in sections.items():
        parts.append("\n".join(_lines((name,), value, said)))
    return "\n\n".join(parts) + "\n"


def _lines(path: Path, value: Any, said: set[str], kind: str = "") -> Iterator[str]:
    """Yield the lines of a key in an entry of a format or type, with a comment unless an earlier one is the same."""
    indent = "  " * (len(path) - 1)
    about = meaning(path, kind)
    if about and about not in said:
        said.add(about)
        yield _comment(about, indent)
    if isinstance(value, dict):
        yield f"{indent}{_scalar(path[-1])}:"
        for key, inner in value.items():
            yield from _lines((*path, key), inner, said, value.get("format") or value.get("type") or kind)
    elif isinstance(value, list):
        listed = {path[-1]: value}  # a line ends with the first item beyond the width
        text = yaml.safe_dump(listed, default_flow_style=None, width=WIDTH - 30, allow_unicode=True)
        yield from (indent + line for line in text.splitlines())
    else:
        yield f"{indent}{_scalar(path[-1])}: {_scalar(value)}"


def meaning(path: Path, kind: str) -> str:
    """Return the description of a key for an entry of a format or type; the whole description if no part applies."""
    common, *owned = _owners().split(description(path))
    own = [text for owners, text in zip(owned[::2], owned[1::2], strict=True) if kind in owners.split(", ")]
    return "; ".join(filter(None, [common, *own])) or description(path)


@cache
def _owners() -> re.Pattern[str]:
    """Return the pattern that begins a part of a description for some formats or types: their names and a colon."""
    name = "|".join(map(re.escape, [*formats(), *types(), *adapters()]))
    return re.compile(rf"(?:^|; )((?:{name})(?:, (?:{name}))*): ")


def description(path: Path) -> str:
    """Return the whole description of a key; empty for a name that the user chooses."""
    part: Schema = schema()
    for step in path:
        choices = [part, *part.get("anyOf", ())]
        named = [choice["properties"][step] for choice in choices if step in choice.get("properties", {})]
        others = [choice.get("additionalProperties") for choice in choices]
        inside = [*named, *(other for other in others if isinstance(other, dict))]
        if not inside:
            return ""
        part, own = inside[0], bool(named)
    return str(part.get("description", "")) if own else ""


def _comment(text: str, indent: str) -> str:
    """Return a text as comment lines."""
    width = WIDTH - len(indent) - 2
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{indent}# {line}" for line in lines)


def _scalar(value: Any) -> str:
    """Return a value on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")
