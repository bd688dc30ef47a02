"""The JSON schema for editors: that of a configuration before fan-out, in which a list of values makes several entries.

The schema used to check a configuration describes single entries, after fan-out. Here, wherever fan-out accepts a list,
a list of the single values is allowed as well.
"""

from __future__ import annotations

import copy

from ranktrial.experiment.fanout import PLAIN_LISTS, TOGETHER
from ranktrial.experiment.key_schema import Schema

Path = tuple[str, ...]
ABOUT = ("title", "description", "default")  # parts that an editor shows for a key, for any form of its value
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def editor_schema(schema: Schema) -> Schema:
    """Return the schema of configurations before fan-out, with the same keys, values and descriptions."""
    whole = {"$schema": DIALECT, **copy.deepcopy(schema)}
    for section, plain in PLAIN_LISTS.items():
        part = whole["properties"][section]
        part["additionalProperties"] = _with_lists(part["additionalProperties"], plain, ())
    return whole


def _with_lists(part: Schema, plain: list[Path], path: Path) -> Schema:
    """Return a part of an entry's schema with lists wherever fan-out accepts them; `path` is its path in the entry."""
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
