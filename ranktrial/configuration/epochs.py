"""Epochs by number of training queries: `epochs` may be a mapping {32: 32, 128: 8, all: 1}.

A recipe then trains for the epochs of the largest listed number that is not above its `queries`; below the smallest
number, those of the smallest apply, and all queries need the entry `all`. The recipe keeps only the resulting number,
so that equal trainings have equal settings however they were written. A recipe that trains on a sample also keeps the
rule as text, for the report.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject

RULE = "epochs_rule"  # the key of the rule as text; not a setting of training
ALL = "all"


def with_text_keys(config: JsonObject, source: str) -> JsonObject:
    """Return the configuration with numbers of queries as text, like all other keys.

    Raises UserError if the numbers are not in ascending order. Keys that are text already are not checked, since the
    JSON settings of a job sort them.
    """
    recipes = config.get("recipes")
    if not isinstance(recipes, dict) or not any(_by_size(entry) for entry in recipes.values()):
        return config
    with_text = {}
    for name, entry in recipes.items():
        with_text[name] = entry
        if _by_size(entry):
            where = f"{source}: recipes.{name}.epochs"
            numbers = [size for size in entry["epochs"] if isinstance(size, int)]
            if any(first >= second for first, second in pairwise(numbers)):
                raise UserError(
                    f"{where}: {', '.join(map(str, numbers))} do not rise; write the numbers of queries rising"
                )
            made = {str(size) if type(size) is int else size: value for size, value in entry["epochs"].items()}
            if len(made) < len(entry["epochs"]):
                raise UserError(f"{where}: a number of queries is listed twice, as a number and as text")
            with_text[name] = entry | {"epochs": made}
    return {**config, "recipes": with_text}


def _by_size(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("epochs"), dict)


def settle_epochs(config: dict[str, Any], source: str) -> None:
    """Set the epochs of each recipe of a valid configuration to those of its number of queries. Raises UserError."""
    for name, entry in config.get("recipes", {}).items():
        if isinstance(entry["epochs"], dict):
            by_size = entry["epochs"]
            entry["epochs"] = epochs_of(by_size, entry["queries"], f"{source}: recipes.{name}.epochs")
            if entry["queries"] != ALL:
                entry[RULE] = epochs_text(by_size)
        if entry["queries"] == ALL:  # there is only one sample
            entry |= {"samples": 1, "sampling": "nested"}


def epochs_of(by_size: dict[str, float], queries: int | str, where: str) -> float:
    """Return the epochs for a number of training queries. Raises UserError, with a message that begins with `where`."""
    in_order = _in_order(by_size)
    for (smaller, more), (larger, fewer) in pairwise(in_order):
        if fewer > more:
            problem = f"{where}: rise from {more:g} at {smaller} to {fewer:g} at {larger}"
            raise UserError(f"{problem}; expected no more epochs for more queries")
    if queries == ALL:
        if ALL not in by_size:
            raise UserError(f"{where}: has no entry all, but the recipe learns from all queries; add one")
        return by_size[ALL]
    listed = [(int(size), epochs) for size, epochs in in_order if size != ALL]
    if not listed:
        raise UserError(f"{where}: has no number of queries, but the recipe learns from {queries}; add one")
    fitting = [epochs for size, epochs in listed if size <= int(queries)]
    return fitting[-1] if fitting else listed[0][1]


def epochs_text(by_size: dict[str, float]) -> str:
    """Return the rule as text, such as `32 epochs from 32 queries, 8 from 128, 1 with all`."""
    words: list[str] = []
    for size, epochs in _in_order(by_size):
        unit = "" if words else (" epoch" if epochs == 1 else " epochs")
        queries = " queries" if not words and size != ALL else ""
        words.append(f"{epochs:g}{unit} " + (f"with {ALL}" if size == ALL else f"from {size}{queries}"))
    return ", ".join(words)


def _in_order(by_size: dict[str, float]) -> list[tuple[str, float]]:
    """Return the entries by ascending number, `all` last."""
    return sorted(by_size.items(), key=lambda entry: float("inf") if entry[0] == ALL else int(entry[0]))
