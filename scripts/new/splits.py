"""Which split of a dataset is its task, and which split the name of a file says; reads and writes nothing."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

CARVED = 0.2  # of the training queries, where there are no others
_WORDS = {"train": r"train(ing)?", "dev": r"dev|valid(ation)?|val", "test": r"test"}
_SPLITS = {split: re.compile(rf"(?<![a-z])({words})(?![a-z])", re.IGNORECASE) for split, words in _WORDS.items()}


def split_in(name: str) -> str | None:
    """The split that a path's words name; None where they name none."""
    return next((split for split, words in _SPLITS.items() if words.search(name)), None)


def task_of_splits(name: str, splits: Collection[str]) -> tuple[str, dict[str, Any]]:
    """The task of a dataset with these splits: test, or dev, or what is carved out of train by the key given."""
    if "test" in splits:
        return name, {}
    if "dev" in splits:
        return f"{name}/dev", {}
    return name, {"splits": {"test": CARVED}}
