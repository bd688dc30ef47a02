"""The index of a multi-vector model: a folder with the vectors of all tokens of a corpus, document by document.

`vectors.npy` has one row per token, float32; `offsets.npy` has the first row of each document, and the end of the last;
`index.json` has the weights' SHA-256. The rows are written chunk by chunk, and read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.inference.indices import (
    Array,
    appending,
    are_offsets,
    check_size,
    check_together,
    read_arrays,
    read_record,
    write_record,
)

NAME = "token-vectors"
ARRAYS = {"vectors": Array(np.float32, 2), "offsets": Array(np.int64, mapped=False)}
DOCUMENTS = 1024  # documents of a shard copied at a time


class TokenIndex(NamedTuple):
    """`vectors` (tokens, dimensions), on disk, and their number for each document."""

    vectors: np.ndarray
    counts: np.ndarray


def write_index(folder: Path, chunks: Iterable[list[np.ndarray]], checkpoint: Path, shard: bool = False) -> TokenIndex:
    """Write the chunks of documents' vectors into an empty folder; a chunk has at least one document.

    Only a shard may have no document. Raises UserError for vectors of different dimensions.
    """
    counts: list[int] = []
    with appending(folder / "vectors.npy", "<f4", checkpoint, (0,)) as add:
        for chunk in chunks:
            for rows in chunk:
                add(rows)
                counts.append(len(rows))
    np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    write_record(folder, checkpoint)
    return read(folder)


def facts(index: TokenIndex) -> dict[str, float]:
    """The entries of an index in the timing."""
    documents = len(index.counts)
    return {"vectors": len(index.vectors), "vectors_per_document": len(index.vectors) / documents if documents else 0.0}


def open_shard(folder: Path, checkpoint: Path) -> Iterator[list[np.ndarray]]:
    """The content of a shard's index, in chunks. Raises UserError if it is damaged, or made with other weights."""
    read_record(folder, checkpoint)
    index = read(folder)
    ends = np.cumsum(index.counts)
    for first in range(0, len(ends), DOCUMENTS):
        of_chunk = slice(first, first + DOCUMENTS)
        rows = index.vectors[ends[first] - index.counts[first] : ends[of_chunk][-1]]
        yield np.split(rows, np.cumsum(index.counts[of_chunk])[:-1])


def open_index(folder: Path, documents: int, checkpoint: Path) -> TokenIndex:
    """The index of a corpus of this size. Raises UserError if it is damaged, or made with other weights."""
    read_record(folder, checkpoint)
    index = read(folder)
    check_size(folder, len(index.counts), documents)
    return index


def read(folder: Path) -> TokenIndex:
    """An index, made with any weights. Raises UserError if it is damaged."""
    vectors, offsets = read_arrays(folder, ARRAYS)
    check_together(folder, are_offsets(offsets, len(vectors), least=1))
    return TokenIndex(vectors, np.diff(offsets))
