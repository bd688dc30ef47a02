"""The index of a sparse encoder: a folder with the term weights of a corpus, document by document.

`weights.npy` (float32) and `terms.npy` (int32, numbers of the vocabulary) have one entry per term of a document;
`offsets.npy` has the first entry of each document, and the end of the last; `index.json` has the model and the number
of terms. The entries are written chunk by chunk, and read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.inference.indices import (
    RECORD,
    Array,
    appending,
    are_offsets,
    check_size,
    check_together,
    read_arrays,
    read_record,
    write_record,
)

if TYPE_CHECKING:
    import scipy.sparse

NAME = "terms"
ARRAYS = {"weights": Array(np.float32), "terms": Array(np.int32), "offsets": Array(np.int64, mapped=False)}
ENTRIES = 4_000_000  # entries read at a time


class TermIndex(NamedTuple):
    """Weights and terms on disk, with the start of each document; `size` is that of the vocabulary."""

    weights: np.ndarray
    terms: np.ndarray
    offsets: np.ndarray
    size: int

    @property
    def documents(self) -> int:
        return len(self.offsets) - 1

    def rows(self, documents: slice) -> scipy.sparse.csr_array:
        """The weights of some documents: float32 of shape (documents, terms of the vocabulary)."""
        import scipy.sparse

        offsets = self.offsets[documents.start : documents.stop + 1]
        entries = slice(int(offsets[0]), int(offsets[-1]))
        parts = (np.array(self.weights[entries]), np.array(self.terms[entries]), offsets - offsets[0])
        return scipy.sparse.csr_array(parts, shape=(len(offsets) - 1, self.size))

    def blocks(self) -> Iterator[slice]:
        """The documents in blocks of at most ENTRIES weights (or one document with more)."""
        first = 0
        while first < self.documents:
            end = int(np.searchsorted(self.offsets, self.offsets[first] + ENTRIES, side="right")) - 1
            yield slice(first, max(first + 1, end))
            first = max(first + 1, end)

    def frequencies(self) -> np.ndarray:
        """The number of documents in which each term of the vocabulary has a weight. Shape (terms,)."""
        counts = np.zeros(self.size, dtype=np.int64)
        for start in range(0, len(self.terms), ENTRIES):
            counts += np.bincount(self.terms[start : start + ENTRIES], minlength=self.size)
        return counts


def write_index(
    folder: Path, chunks: Iterable[scipy.sparse.csr_array], checkpoint: Path, shard: bool = False
) -> TermIndex:
    """Write the weights of documents, which come in chunks, into an empty folder.

    Raises UserError if no document has a term; a shard may be empty.
    """
    counts: list[np.ndarray] = []
    size = 0
    with (
        appending(folder / "weights.npy", "<f4") as add_weights,
        appending(folder / "terms.npy", "<i4") as add_terms,
    ):
        for chunk in chunks:
            add_weights(chunk.data)
            add_terms(chunk.indices)
            counts.append(np.diff(chunk.indptr))
            size = chunk.shape[1]
    offsets = np.cumsum(np.concatenate([[0], *counts]), dtype=np.int64)
    if not offsets[-1] and not shard:
        raise UserError(f"{checkpoint}: the model gives no document a term, so it cannot search")
    np.save(folder / "offsets.npy", offsets)
    write_record(folder, checkpoint, terms=size)
    return _read(folder, size)


def open_shard(folder: Path, checkpoint: Path) -> Iterator[scipy.sparse.csr_array]:
    """The content of a shard's index, in chunks. Raises UserError if it is damaged, or made with other weights."""
    index = _read(folder, _size(folder, checkpoint))
    yield from map(index.rows, index.blocks())


def facts(index: TermIndex) -> dict[str, float]:
    """The entries of an index in the timing."""
    return {"terms_per_document": len(index.terms) / index.documents if index.documents else 0.0}


def open_index(folder: Path, documents: int, checkpoint: Path) -> TermIndex:
    """The index of a corpus of this size. Raises UserError if it is damaged, or made with other weights."""
    index = _read(folder, _size(folder, checkpoint))
    check_size(folder, index.documents, documents)
    return index


def _size(folder: Path, checkpoint: Path) -> int:
    """The size of the vocabulary of an index."""
    record = read_record(folder, checkpoint)
    if type(record.get("terms")) is not int:
        raise UserError(f"{folder}: {RECORD} was changed or damaged; delete it and encode again")
    return int(record["terms"])


def _read(folder: Path, size: int) -> TermIndex:
    weights, terms, offsets = read_arrays(folder, ARRAYS)
    check_together(folder, are_offsets(offsets, len(weights), least=0) and len(weights) == len(terms))
    for start in range(0, len(terms), ENTRIES):
        part = terms[start : start + ENTRIES]
        if part.min() < 0 or part.max() >= size:
            raise UserError(f"{folder}: terms.npy names a term that there is not; delete it and encode again")
    return TermIndex(weights, terms, offsets, size)
