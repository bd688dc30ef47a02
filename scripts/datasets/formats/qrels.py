"""Judgements only, for the runs of other people's systems: a qrels file, or a folder or archive with one per split.

A file has TREC's four columns or BEIR's three.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.common.errors import UserError
from scripts.datasets.formats import (
    Collection,
    Format,
    Mistake,
    file_in,
    outside,
    same_file_twice,
)
from scripts.datasets.formats._judgements import KEY, read_judgements
from scripts.ir.trec import Qrels


def mistake(entry: dict[str, Any]) -> Mistake | None:
    """A qrels file that does not lie below the location, or that two splits name."""
    files = entry.get("qrels", {})
    return outside("qrels", files) or same_file_twice("qrels", files)


NAME = "qrels"
KEYS = {
    "format": {"description": "judgements only"},
    "location": {"description": "also the one file"},
    "qrels": KEY,
}
FORMAT = Format(
    location="judgements only, one file or (under `qrels`) one per split: for the runs of other people's systems",
    splits=lambda entry: set(entry.get("qrels", {"test": ""})),
    judgements="qrels",
    mistake=mistake,
    has_documents=False,
    one_file=True,
)


@dataclass(frozen=True)
class Options:
    """Split -> file below the location; None where the location is the one file, of test."""

    qrels: dict[str, str] | None = None


def read(root: Path, options: Options) -> Collection:
    """Read the one file (which is then test's) or those that the options name. Raises UserError with file and line."""
    files = {"test": root}
    if options.qrels is not None:
        files = {split: file_in(root, name, f"qrels.{split}") for split, name in options.qrels.items()}
    qrels: dict[str, Qrels] = {}
    for split, path in files.items():
        if path.is_dir():
            raise UserError(f"{path} is a folder: name its files under qrels, such as qrels: {{test: qrels.txt}}")
        qrels[split] = read_judgements(path)
        if not qrels[split]:
            raise UserError(f"{path}: not one judged query")
    return Collection(None, {}, qrels)
