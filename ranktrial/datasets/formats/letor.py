"""LETOR: the grades in external feature files (MSLR, LETOR 3 and 4); `features` has the features."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.datasets.formats import Collection, FilesOfSplits
from ranktrial.datasets.formats._judgements import judgements_only, read_splits
from ranktrial.ir.letor import read_letor
from ranktrial.ir.trec import Qrels

NAME = "letor"
MEANINGS = {"format": "judgements in files of features", "location": "or a single file"}
FORMAT = judgements_only(
    NAME, "external features in LETOR format, one file or (under `letor`) one per split; see docs/ranking.md"
)


@dataclass(frozen=True)
class Options:
    """Split -> file below the location; None if the location is one file, for test."""

    letor: Annotated[
        FilesOfSplits | None, "one file per split, such as {train: train.txt, dev: vali.txt, test: test.txt}"
    ] = None


Keys = Options


def read(root: Path, options: Options) -> Collection:
    """Read the grades of the one file (for test) or of the named ones. Raises UserError with file and line."""
    return read_splits(root, NAME, options.letor, _grades)


def _grades(path: Path) -> Qrels:
    qrels: Qrels = {}
    for row in read_letor(path):
        qrels.setdefault(row.query, {})[row.document] = row.grade
    return qrels
