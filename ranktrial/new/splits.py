"""The split of a dataset that is its task, and the split in the name of a file; reads and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

CARVED = 0.2  # share of the training queries, if there are no others
_WORDS = {"train": r"train(ing)?", "dev": r"dev|valid(ation)?|val", "test": r"test"}
_SPLITS = {split: re.compile(rf"(?<![a-z])({words})(?![a-z])", re.IGNORECASE) for split, words in _WORDS.items()}


def split_in(name: str) -> str | None:
    """Return the split named by a word of a path; None without one."""
    return next((split for split, words in _SPLITS.items() if words.search(name)), None)


def task_of_splits(name: str, splits: Collection[str]) -> tuple[str, dict[str, Any]]:
    """Return the task of a dataset (test, else dev, else carved out of train) and the keys that carve its split."""
    if "test" in splits:
        return name, {}
    if "dev" in splits:
        return f"{name}/dev", {}
    return name, {"splits": {"test": CARVED}}
