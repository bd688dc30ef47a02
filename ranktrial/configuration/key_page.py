"""The page of all keys (docs/configuration.md) and the JSON schema for editors, in which a list of values makes several
entries; reads and writes nothing.

The schema used to check a configuration describes single entries, after fan-out. Here, wherever fan-out accepts a list,
a list of the single values is allowed as well.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator

from ranktrial.configuration.fanout import PLAIN_LISTS, TOGETHER
from ranktrial.configuration.key_schema import Schema
from ranktrial.configuration.verdicts import expected

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


HEAD = """\
# The keys of a configuration

`make schema` writes this page from the declarations in `ranktrial/configuration/sections/` and in the plug-ins.
Brackets hold what a key takes (text, unless stated), then `required` or its default; a key without either may be left
out. Whole numbers are at least 1 unless a range is given. In a model, recipe, system or comparison, a list in place of
a single value makes several entries; its name elsewhere stands for all of them. [config/README.md](../config/README.md)
lists examples.
"""
MEANT = re.compile(r"(?:,? of at most \d+ (?:letters|characters)| without the characters|, such as utf| \(64 ).*")
LIMITLESS = ((r" from (?:1|-\d{6,}) to \d{6,}", ""), (r" from (\S+) to \d{6,}", r" from \1"),
             (r" and at most \d{6,}", ""), (r"^an? ", ""), (r"^(?:line of )?text$", ""))  # fmt: skip


def key_page(schema: Schema) -> str:
    """Return the page, with a list for the whole experiment and one for each section."""
    properties = schema["properties"]
    sections = {name: part for name, part in properties.items() if _entry(part)}
    whole = {name: part for name, part in properties.items() if name not in sections}
    shown: dict[str, str] = {}
    parts = [HEAD, "## The experiment", "", *_items({"properties": whole, "required": schema["required"]}, "", shown)]
    for name, part in sections.items():
        parts += ["", f"## {name}", "", _sentence(part["description"]), "", *_items(_entry(part), "", shown)]
    return "\n".join(parts) + "\n"


def _entry(part: Schema) -> Schema:
    """Return the schema of a section's entries; empty if the key is not a section of named entries."""
    entry = part.get("additionalProperties")
    return entry if isinstance(entry, dict) and "properties" in entry else {}


def _items(part: Schema, above: str, shown: dict[str, str]) -> Iterator[str]:
    """Yield an item per key of a mapping, each followed by those of the keys inside it.

    Keys with equal schemas share an item. `shown` maps the schema of a mapping to the key where its keys were listed.
    """
    for inner, alike in itertools.groupby(part["properties"].items(), lambda item: item[1]):
        names = [name for name, _ in alike]
        keys = ", ".join(f"`{above}{name}`" for name in names)
        parts = inner.get("description", "").split("`")  # each second one is code, where HTML is text
        meaning = "`".join(part if code % 2 else part.replace("<", "&lt;") for code, part in enumerate(parts))
        value = re.sub("^text$", "", re.sub(" or null$", "", _value(inner)) if "null: " in meaning else _value(inner))
        about = "; ".join(filter(None, [value, _default(inner, names[0] in part.get("required", ()))]))
        inside: Schema = next(
            (way for way in (inner, *inner.get("anyOf", ())) if "properties" in way), {"properties": {}}
        )
        place = f"{above}{names[0]}."
        first = shown.setdefault(json.dumps(inside["properties"]), place) if inside["properties"] else place
        same = "" if first == place else f"; keys as under `{first[:-1]}`"
        indent = "    " * (above.count(".") - above.count(".NAME."))
        yield f"{indent}- {keys}{f' ({about})' if about else ''}: {meaning}{same}"
        yield from () if same else _items(inside, place, shown)
        if entry := _entry(inner):
            yield from _items(entry, f"{place}NAME.", shown)


def _value(part: Schema) -> str:
    """Return what a key takes, in few words: no lengths of text, and no limits that nobody meets."""
    meaning = part.get("description", "")
    obvious = part.get("type") == "boolean" and "default" in part
    if obvious or "properties" in part or all(f"{one}: " in meaning for one in part.get("enum", [" "])):
        return ""
    if "anyOf" in part and "title" not in part:
        return " or ".join(dict.fromkeys(_value(way) or "text" for way in part["anyOf"]))
    if "items" in part and "title" not in part:
        return f"list: {_value(part['items'])}".removesuffix(": ")
    value = MEANT.sub("", expected(part))
    for pattern, short in LIMITLESS:
        value = re.sub(pattern, short, value)
    return value.removeprefix("one of ")


def _default(part: Schema, required: bool) -> str:
    default = part.get("default")
    if required or default in (None, {}, []):
        return "required" if required else ""
    return f"default `{default if isinstance(default, str) and default else json.dumps(default)}`"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
