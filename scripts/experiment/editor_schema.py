"""The schema for editors: that of a configuration as it is written, where a list of values makes several entries.

The schema that a configuration is checked with describes single entries, as fan-out leaves them. Here, each place at
which fan-out takes a list allows a list of what may stand there alone.
"""

from __future__ import annotations

import copy

from scripts.experiment.fanout import PLAIN_LISTS, TOGETHER
from scripts.experiment.key_schema import Schema

Path = tuple[str, ...]
ABOUT = ("title", "description", "default")  # what an editor shows of a key, whichever way its value is written
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def editor_schema(schema: Schema) -> Schema:
    """The schema of configurations before fan-out, of the same keys, values and descriptions."""
    whole = {"$schema": DIALECT, **copy.deepcopy(schema)}
    for section, plain in PLAIN_LISTS.items():
        part = whole["properties"][section]
        part["additionalProperties"] = _with_lists(part["additionalProperties"], plain, ())
    return whole


def _with_lists(part: Schema, plain: list[Path], path: Path) -> Schema:
    """A part of an entry's schema, with lists wherever fan-out takes them; `path` leads to it from the entry."""
    if part.get("type") == "object":
        for key, inner in part.get("properties", {}).items():
            part["properties"][key] = _with_lists(inner, plain, (*path, key))
        if isinstance(part.get("additionalProperties"), dict):
            part["additionalProperties"] = _with_lists(part["additionalProperties"], plain, (*path, "*"))
        return part
    if path in plain:
        return part
    about = {key: part.pop(key) for key in ABOUT if key in part}
    ways = [way for way in part.get("anyOf", [part]) if way.get("type") != "array"]
    single = ways[0] if len(ways) == 1 else {"anyOf": ways}
    items = part if path in TOGETHER else single
    return about | {"anyOf": [single, {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}]}
