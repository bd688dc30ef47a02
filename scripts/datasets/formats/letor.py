"""LETOR: the grades in files of features that others computed (MSLR, LETOR 3 and 4); `features` has the features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.common.errors import UserError
from scripts.datasets.formats import (
    FILES_OF_SPLITS,
    Collection,
    Format,
    Mistake,
    file_in,
    outside,
    same_file_twice,
)
from scripts.ir.letor import read_letor
from scripts.ir.trec import Qrels


def mistake(entry: dict[str, Any]) -> Mistake | None:
    """A file that does not lie below the location, or that two splits name."""
    files = entry.get("letor", {})
    return outside("letor", files) or same_file_twice("letor", files)


NAME = "letor"
KEYS = {
    "format": {"description": "judgements in files of features"},
    "location": {"description": "also the one file"},
    "letor": {
        "description": "a file for each split, such as {train: train.txt, dev: vali.txt, test: test.txt}",
        "$ref": FILES_OF_SPLITS,
    },
}
FORMAT = Format(
    location="features by others in LETOR's format, one file or (under `letor`) one per split; see docs/features.md",
    splits=lambda entry: set(entry.get("letor", {"test": ""})),
    judgements="letor",
    mistake=mistake,
    has_documents=False,
    one_file=True,
)


@dataclass(frozen=True)
class Options:
    """Split -> file below the location; None where the location is the one file, of test."""

    letor: dict[str, str] | None = None


def read(root: Path, options: Options) -> Collection:
    """Read the grades of the one file (which is then test's) or of those named. Raises UserError with file and line."""
    files = {"test": root}
    if options.letor is not None:
        files = {split: file_in(root, name, f"letor.{split}") for split, name in options.letor.items()}
    qrels: dict[str, Qrels] = {}
    for split, path in files.items():
        if path.is_dir():
            raise UserError(f"{path} is a folder: name its files under letor, such as letor: {{test: test.txt}}")
        qrels[split] = {}
        for row in read_letor(path):
            qrels[split].setdefault(row.query, {})[row.document] = row.grade
        if not qrels[split]:
            raise UserError(f"{path}: not one line with a query")
    return Collection(None, {}, qrels)
