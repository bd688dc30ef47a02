"""Values in a configuration: checks of every value, values by key path, and values as parts of names.

The schema states the values of each key. These checks apply to all keys, including those added later. Only prompts may
contain newlines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from ranktrial.common.errors import REFUSED, UserError, named, shortened
from ranktrial.common.keys import JsonObject
from ranktrial.common.wording import LARGEST

LONGEST_TEXT = 4096  # characters; no path is longer
_EXACT = 2**53  # above it, 64-bit floats cannot represent every whole number


def why_not_plain(value: Any, lines: bool = False) -> str | None:
    """Return the reason to refuse a single value, or None. The content of lists and mappings is not checked.

    A text must be one line, unless `lines` allows several.
    """
    if value is None or isinstance(value, bool | list | dict):
        return None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is not a finite number; expected a finite one"
    if isinstance(value, int):
        return "a number beyond 64 bits" if abs(value) > LARGEST else None
    if not isinstance(value, str):
        kind = type(value).__name__
        return f"{value} is a {kind} to YAML; no value here is a {kind}; for a text write '{value}'"
    if invisible := REFUSED.search(value.replace("\n", "") if lines else value):
        return f"the text {shortened(value)} contains {named(invisible[0])}; expected one line of visible characters"
    if len(value) > LONGEST_TEXT:
        return f"a text of {len(value):,} characters; expected at most {LONGEST_TEXT:,}"
    return None


def check_plain(value: Any, source: str, path: tuple[str, ...] = ()) -> None:
    """Raise UserError, naming the key, unless `why_not_plain` accepts each value and key of a configuration."""
    where = ": ".join([source, *([".".join(path)] if path else [])])
    of_model = path[2:3] if path[0:1] == ("models",) else ()
    of_dataset = path[2:3] if path[0:1] == ("datasets",) else ()
    prompted = of_model == ("prompts",) or of_dataset == ("prompt",)
    if reason := why_not_plain(value, lines=prompted):
        raise UserError(f"{where}: {reason}")
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str) or why_not_plain(key):
                raise UserError(f"{where}: the key {shortened(key)}: {why_not_plain(key) or 'is not text; quote it'}")
            check_plain(part, source, (*path, shortened(key)[1:-1]))
    elif isinstance(value, list):
        for number, part in enumerate(value, 1):
            check_plain(part, source, (*path[:-1], f"{path[-1]}[{number}]") if path else (f"[{number}]",))


def with_file(message: str, source: str, files: Mapping[str, JsonObject]) -> str:
    """The message on a merged configuration, which names its last file, with the file that writes the message's key.

    That is the file that has the longest part of the key's path, and of several the last.
    """
    about = message.removeprefix(f"{source}: ")
    if about == message or len(files) < 2:
        return message
    unknown = re.match(r"(?:(.*?): )?unknown key '(.*?)'", about)
    key = ".".join(filter(None, unknown.groups())) + ":" if unknown else about
    return f"{max(reversed(list(files)), key=lambda file: _followed(key, files[file]))}: {about}"


def _followed(key: str, value: Any) -> int:
    """The number of characters of a key path that lead into a value."""
    entries = value.items() if isinstance(value, dict) else ()
    fitting = [(str(name), inner) for name, inner in entries if re.match(r"[.:\[ ]", key.removeprefix(str(name)))]
    return max((len(name) + _followed(key[len(name) + 1 :], inner) for name, inner in fitting), default=0)


def whole_numbers(value: Any) -> Any:
    """Return the value with whole numbers as integers: 10.0 becomes 10, so that both spellings are the same setting."""
    if isinstance(value, dict):
        return {key: whole_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [whole_numbers(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value


def with_grades_as_text(config: JsonObject) -> dict[str, object]:
    """Return the configuration with the keys in `grades` of datasets as text; no other keys are numbers.

    Our YAML reader does the same. Snakemake's reader, which passes the configuration to the Snakefile, keeps numbers.
    """
    datasets = config.get("datasets")
    if not isinstance(datasets, dict):
        return dict(config)
    made = dict(datasets)
    for name, entry in datasets.items():
        if isinstance(entry, dict) and isinstance(grades := entry.get("grades"), dict):
            made[name] = entry | {"grades": {str(key) if type(key) is int else key: new for key, new in grades.items()}}
    return {**config, "datasets": made}


def get(entry: Any, path: tuple[str, ...]) -> Any:
    """Return the value at a path; None if there is none."""
    for key in path:
        if not isinstance(entry, dict) or key not in entry:
            return None
        entry = entry[key]
    return entry


def put(entry: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    """Set the value at an existing path."""
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = value


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def list_paths(entry: Any, plain: list[tuple[str, ...]], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Return the paths in an entry whose value is a non-empty list, except the `plain` ones (`*` is any name)."""
    if isinstance(entry, dict):
        return [listed for key, value in entry.items() for listed in list_paths(value, plain, (*path, key))]
    return [path] if isinstance(entry, list) and entry and not _is_one_of(path, plain) else []


def _is_one_of(path: tuple[str, ...], plain: list[tuple[str, ...]]) -> bool:
    return path in plain or (*path[:-1], "*") in plain


def word_of(value: object) -> str:
    """Return a value as part of a name: the last part of a path or hub id, with '_' for other characters."""
    last = str(whole_numbers(value)).rstrip("/").rsplit("/", 1)[-1]
    return "".join(sign if sign.isalnum() or sign in "._" else "_" if sign != "-" else "-" for sign in last)
