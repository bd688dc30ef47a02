"""The schema for editors: that of a configuration as it is written, where a list of values makes several entries.

The schema that a configuration is checked with describes single entries, as fan-out leaves them. Here, each place at
which fan-out takes a list allows a list of what may stand there alone. References are written out, since some editors
overlook what stands beside a `$ref`.
"""

from __future__ import annotations

import copy
from typing import Any

from scripts.experiment.fanout import PLAIN_LISTS, TOGETHER
from scripts.experiment.verdicts import resolved

Path = tuple[str, ...]
ABOUT = ("title", "description", "default")  # what an editor shows of a key, whichever way its value is written


def editor_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of configurations before fan-out, of the same keys, values and descriptions."""
    whole = {key: copy.deepcopy(part) for key, part in schema.items() if key not in ("$defs", "properties")}
    whole["properties"] = {}
    for section, part in schema["properties"].items():
        whole["properties"][section] = _written_out(part, schema)
        if section in PLAIN_LISTS:
            entry = resolved(part["additionalProperties"], schema)
            whole["properties"][section]["additionalProperties"] = _with_lists(entry, schema, PLAIN_LISTS[section], ())
    return whole


def _written_out(part: Any, root: dict[str, Any]) -> Any:
    """A part of the schema with its references replaced by what they refer to."""
    if isinstance(part, list):
        return [_written_out(item, root) for item in part]
    if not isinstance(part, dict):
        return part
    whole = resolved(part, root)
    return {key: _written_out(value, root) for key, value in whole.items() if key not in ("$ref", "$comment")}


def _with_lists(part: dict[str, Any], root: dict[str, Any], plain: list[Path], path: Path) -> dict[str, Any]:
    """A part of an entry's schema, with lists wherever fan-out takes them; `path` leads to it from the entry."""
    part = _written_out(part, root)
    if part.get("type") == "object":
        for key, inner in part.get("properties", {}).items():
            part["properties"][key] = _with_lists(inner, root, plain, (*path, key))
        if isinstance(part.get("additionalProperties"), dict):
            part["additionalProperties"] = _with_lists(part["additionalProperties"], root, plain, (*path, "*"))
        return part
    if path in plain:
        return part
    about = {key: part.pop(key) for key in ABOUT if key in part}
    ways = [way for way in part.get("anyOf", [part]) if way.get("type") != "array"]
    single = ways[0] if len(ways) == 1 else {"anyOf": ways}
    items = part if path in TOGETHER else single
    return about | {"anyOf": [single, {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}]}
