"""The index of a multi-vector model: a folder with the vectors of all tokens of a corpus, document by document.

`vectors.npy` has one row per token, float32; `offsets.npy` has the first row of each document, and the end of the last;
`index.json` has the weights' SHA-256. The rows are written chunk by chunk, and read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.inference.index_files import read_record, write_record
from ranktrial.inference.vectors import VECTORS, write_header

NAME = "token-vectors"
OFFSETS = "offsets.npy"
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
    dimensions = 0
    with open(folder / VECTORS, "wb") as file:
        for chunk in chunks:
            if not counts:
                dimensions = chunk[0].shape[1]
                write_header(file, "<f4", (0, dimensions))
            for rows in chunk:
                if rows.shape[1] != dimensions:
                    raise UserError(f"{checkpoint}: vectors of {dimensions} and of {rows.shape[1]} dimensions")
                file.write(np.ascontiguousarray(rows, dtype="<f4").data)
                counts.append(len(rows))
        file.seek(0)
        write_header(file, "<f4", (sum(counts), dimensions))
    np.save(folder / OFFSETS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
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
    if len(index.counts) != documents:
        raise UserError(f"{folder}: of {len(index.counts)} documents, but the corpus has {documents}; encode it again")
    return index


def read(folder: Path) -> TokenIndex:
    """An index, made with any weights. Raises UserError if it is damaged."""
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        offsets = np.load(folder / OFFSETS, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{folder}: not a complete index, delete it and encode again ({error})") from None
    fits = vectors.ndim == 2 and vectors.dtype == np.float32 and offsets.ndim == 1 and offsets.dtype == np.int64
    if not fits or len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != len(vectors) or (np.diff(offsets) < 1).any():
        raise UserError(f"{folder}: {OFFSETS} and {VECTORS} do not belong together; delete it and encode again")
    return TokenIndex(vectors, np.diff(offsets))
