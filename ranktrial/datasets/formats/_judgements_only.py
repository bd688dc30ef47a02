"""The common part of formats of judgements only: one file, for test, or one per split under a key of their name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.datasets.formats import Collection, Format, Mistake, file_in, outside, same_file_twice
from ranktrial.ir.trec import Qrels


def judgements_only(name: str, location: str) -> Format:
    """The format of that name."""

    def mistake(entry: Any) -> Mistake | None:
        """A file that is not below the location, or that two splits name."""
        files = getattr(entry, name) or {}
        return outside(name, files) or same_file_twice(name, files)

    return Format(
        location=location,
        splits=lambda entry: set(getattr(entry, name) or {"test": ""}),
        judgements=name,
        mistake=mistake,
        has_documents=False,
        one_file=True,
    )


def read_splits(root: Path, name: str, stated: dict[str, str] | None, read: Callable[[Path], Qrels]) -> Collection:
    """The judgements of the one file, or of those that are `stated`. Raises UserError for a file without any."""
    files = {"test": root}
    if stated is not None:
        files = {split: file_in(root, file, f"{name}.{split}") for split, file in stated.items()}
    qrels: dict[str, Qrels] = {}
    for split, path in files.items():
        if path.is_dir():
            raise UserError(f"{path} is a folder: name its files under {name}, such as {name}: {{test: {name}.txt}}")
        qrels[split] = read(path)
        if not qrels[split]:
            raise UserError(f"{path}: no judged query")
    return Collection(None, {}, qrels)
