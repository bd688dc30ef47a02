"""Values in an entry of the configuration by key path, paths of lists, and values as parts of names."""

from __future__ import annotations

from typing import Any

from ranktrial.experiment.plain_values import whole_numbers


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
