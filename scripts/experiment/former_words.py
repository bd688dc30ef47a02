"""Words of earlier configurations that have better ones now: they mean the same, and each run says so in a line."""

from __future__ import annotations

from typing import Any

SECTIONS = ("recipes", "systems")
KEYS = {"piece_length": "passage_length"}
VALUES = {"long_documents": {"split": "passages"}}


def with_current_words(config: dict[str, Any]) -> dict[str, Any]:
    """A configuration whose lists are fanned out, with the current words. Names that were made of former ones stay."""
    return config | {section: _current(config[section]) for section in SECTIONS if section in config}


def _current(entries: object) -> object:
    if not isinstance(entries, dict):
        return entries
    return {name: _entry(entry) if isinstance(entry, dict) else entry for name, entry in entries.items()}


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    current: dict[str, Any] = {}
    for key, value in entry.items():
        new_key = KEYS.get(key, key)
        name = key if new_key in entry else new_key  # with both, the former one is an unknown key
        meanings = VALUES.get(key, {})
        current[name] = meanings.get(value, value) if isinstance(value, str) else value
    return current


def former_words(config: dict[str, Any]) -> list[str]:
    """The one line that says what to write instead, where a configuration has a former word; as the file has it."""
    used = set()
    for section in SECTIONS:
        entries = config.get(section)
        for entry in entries.values() if isinstance(entries, dict) else ():
            used |= {pair for key, value in _items(entry) for pair in _former(key, value)}
    if not used:
        return []
    pairs = "; ".join(f"{former} is {current} now" for former, current in sorted(used))
    return [f"{pairs}: the former words are read as these, please write them"]


def _items(entry: object) -> list[tuple[str, Any]]:
    return list(entry.items()) if isinstance(entry, dict) else []


def _former(key: str, value: object) -> set[tuple[str, str]]:
    """The former words of a key and its value (or list of values), each with the current one."""
    values = value if isinstance(value, list) else [value]
    meanings = VALUES.get(key, {})
    former_values = [word for word in values if isinstance(word, str) and word in meanings]
    words = {(f"{key}: {word}", f"{key}: {meanings[word]}") for word in former_values}
    return words | ({(key, KEYS[key])} if key in KEYS else set())
