"""Term frequencies of documents: a folder that is read once from an index, and mapped into memory.

    documents.txt            one id per line, in the order of their bytes; a document's row is its line, from 0
    statistics.json          settings, the number of documents and the fields with any term
    {field}/terms.txt        one term per line, in the order of their bytes
    {field}/starts.npy       the start of each term's entries, and the end of the last
    {field}/documents.npy    the rows of the documents with the term, ascending; 32 bits
    {field}/counts.npy       its frequency in them; 32 bits
    {field}/lengths.npy      the tokens of each document in this field, exactly (an index stores them in one byte)

The order does not depend on how an index was merged, so that equal documents make equal files. Nothing has the size of
documents times terms, and only requested entries are read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ranktrial.common.digests import content_sha256
from ranktrial.common.errors import UserError

STATISTICS = "statistics.json"


@dataclass(frozen=True)
class Field:
    """The terms of a field; the entries of term i are `rows` and `counts` from starts[i] to starts[i + 1]."""

    place: dict[str, int]  # of each term
    starts: np.ndarray
    rows: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray

    @cached_property
    def tokens(self) -> int:
        """The number of tokens of the field in all documents."""
        return int(self.lengths.sum(dtype=np.int64))

    def entries(self, term: str) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the documents with a term, and its frequencies; both empty if there are none."""
        place = self.place.get(term)
        start, end = (0, 0) if place is None else self.starts[place : place + 2]
        return self.rows[start:end], self.counts[start:end]


class TermCounts:
    """The term counts of an index, opened."""

    def __init__(self, folder: Path) -> None:
        """Open the folder. Raises UserError if it is not complete."""
        self.folder = folder
        try:
            self.statistics = json.loads((folder / STATISTICS).read_text(encoding="utf-8"))
            self.ids = read_names(folder / "documents.txt")
            if len(self.ids) != self.statistics["documents"]:
                raise ValueError
            self.fields = {name: self._field(name) for name in self.statistics["fields_with_terms"]}
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(f"{folder}: not complete term counts; delete the folder and count again") from None

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each document by its id."""
        return {name: row for row, name in enumerate(self.ids)}

    def digest(self) -> str:
        """The SHA-256 of the counts, which identifies the index."""
        return content_sha256(self.folder)

    def _field(self, name: str) -> Field:
        folder = self.folder / name
        places = {term: place for place, term in enumerate(read_names(folder / "terms.txt"))}
        rows, counts = (np.load(folder / f"{part}.npy", mmap_mode="r") for part in ("documents", "counts"))
        starts, lengths = (np.load(folder / f"{part}.npy") for part in ("starts", "lengths"))
        if len(starts) != len(places) + 1 or len(lengths) != len(self.ids) or {len(rows), len(counts)} != {starts[-1]}:
            raise ValueError
        return Field(places, starts, rows, counts, lengths)


def read_names(path: Path) -> list[str]:
    """The lines of a file of ids or terms; only a line feed ends a line."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def write_names(path: Path, names: list[str]) -> None:
    """Write ids or terms, one line each."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{name}\n" for name in names)
