"""A configuration as YAML text in which each key has what the declarations say of it; reads and writes nothing.

Where a key means something else in some kinds of entries (formats, types of systems and models), it is what holds for
the entry at hand.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import yaml

from scripts.experiment.dataset_schema import formats
from scripts.experiment.key_schema import Schema
from scripts.experiment.schema import schema
from scripts.experiment.system_kinds import types
from scripts.models.adapters import adapters

WIDTH = 118
Path = tuple[str, ...]


def page(head: Sequence[str], sections: dict[str, Any]) -> str:
    """The text of a configuration: lines of comment, then each section with its keys."""
    said: set[str] = set()
    parts = ["\n".join(_comment(line, "") for line in head)]
    for name, value in sections.items():
        parts.append("\n".join(_lines((name,), value, said)))
    return "\n\n".join(parts) + "\n"


def _lines(path: Path, value: Any, said: set[str], kind: str = "") -> Iterator[str]:
    """The lines of a key in an entry of a kind, below a comment where nothing above has said the same."""
    indent = "  " * (len(path) - 1)
    about = meaning(path, kind)
    if about and about not in said:
        said.add(about)
        yield _comment(about, indent)
    if isinstance(value, dict):
        yield f"{indent}{_scalar(path[-1])}:"
        for key, inner in value.items():
            yield from _lines((*path, key), inner, said, value.get("format") or value.get("type") or kind)
    else:
        yield f"{indent}{_scalar(path[-1])}: {_scalar(value)}"


def meaning(path: Path, kind: str) -> str:
    """What the declarations say of a key for an entry of a kind; all that they say where none of it is for this one."""
    common, *owned = _owners().split(description(path))
    own = [text for owners, text in zip(owned[::2], owned[1::2], strict=True) if kind in owners.split(", ")]
    return "; ".join(filter(None, [common, *own])) or description(path)


@cache
def _owners() -> re.Pattern[str]:
    """What begins a part of a description that is for some kinds only: their names and a colon."""
    name = "|".join(map(re.escape, [*formats(), *types(), *adapters()]))
    return re.compile(rf"(?:^|; )((?:{name})(?:, (?:{name}))*): ")


def description(path: Path) -> str:
    """What the declarations say of a key; empty for a name that the user gives."""
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
    """A text as lines of comment."""
    width = WIDTH - len(indent) - 2
    lines = textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"{indent}# {line}" for line in lines)


def _scalar(value: Any) -> str:
    """A value or a list of values on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, width=float("inf"), allow_unicode=True)
    return text.removesuffix("\n").removesuffix("\n...")
