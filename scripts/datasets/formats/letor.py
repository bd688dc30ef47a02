"""LETOR: the grades in files of features that others computed (MSLR, LETOR 3 and 4); `features` has the features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scripts.datasets.formats import FILES_OF_SPLITS, Collection
from scripts.datasets.formats._judgements_only import judgements_only, read_splits
from scripts.ir.letor import read_letor
from scripts.ir.trec import Qrels

NAME = "letor"
KEYS = {
    "format": {"description": "judgements in files of features"},
    "location": {"description": "also the one file"},
    "letor": {
        "description": "a file for each split, such as {train: train.txt, dev: vali.txt, test: test.txt}",
        "$ref": FILES_OF_SPLITS,
    },
}
FORMAT = judgements_only(
    NAME, "features by others in LETOR's format, one file or (under `letor`) one per split; see docs/features.md"
)


@dataclass(frozen=True)
class Options:
    """Split -> file below the location; None where the location is the one file, of test."""

    letor: dict[str, str] | None = None


def read(root: Path, options: Options) -> Collection:
    """Read the grades of the one file (which is then test's) or of those named. Raises UserError with file and line."""
    return read_splits(root, NAME, options.letor, _grades)


def _grades(path: Path) -> Qrels:
    qrels: Qrels = {}
    for row in read_letor(path):
        qrels.setdefault(row.query, {})[row.document] = row.grade
    return qrels
