"""Judgements only, for external runs: a qrels file, or a folder or archive with one per split.

A file has TREC's four columns or BEIR's three.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.datasets.formats import Collection, FilesOfSplits
from ranktrial.datasets.formats._judgements import (
    BY_SUBTOPIC,
    JUDGEMENTS,
    judgements_only,
    read_by_subtopic,
    read_judgements,
    read_splits,
)
from ranktrial.ir.trec import Qrels, Subtopics, over_subtopics

NAME = "qrels"
MEANINGS = {"format": "judgements only", "location": "or a single file"}
FORMAT = judgements_only(NAME, "judgements only, one file or (under `qrels`) one per split: for external runs")


@dataclass(frozen=True)
class Options:
    """Split -> file below the location; None if the location is one file, for test."""

    qrels: Annotated[FilesOfSplits | None, JUDGEMENTS] = None
    subtopics: Annotated[bool, BY_SUBTOPIC] = False


Keys = Options


def read(root: Path, options: Options) -> Collection:
    """Read the one file (for test) or those that the options name. Raises UserError with file and line."""
    if not options.subtopics:
        return read_splits(root, NAME, options.qrels, read_judgements)
    of_files: list[Subtopics] = []

    def read_file(path: Path) -> Qrels:
        of_files.append(read_by_subtopic(path))
        return over_subtopics(of_files[-1])

    collection = read_splits(root, NAME, options.qrels, read_file)
    return collection._replace(subtopics=dict(zip(collection.qrels, of_files, strict=True)))
