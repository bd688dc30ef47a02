"""The index of a multi-vector model: a folder with the vectors of all tokens of a corpus, each document's together.

`vectors.npy` has a row a token, float32; `offsets.npy` says at which row each document begins, and where the last one
ends; `index.json` with which weights it was made. The rows go to disk as they come, and are read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from scripts.common.errors import UserError
from scripts.inference.index_files import read_record, write_header, write_record

VECTORS, OFFSETS = "vectors.npy", "offsets.npy"


class TokenIndex(NamedTuple):
    """`vectors` (tokens, dimensions), left on disk, and how many of them each document has."""

    vectors: np.ndarray
    counts: np.ndarray


def write_index(folder: Path, chunks: Iterable[list[np.ndarray]], checkpoint: Path) -> TokenIndex:
    """Write the vectors of documents, which come in chunks of at least one, into an empty folder."""
    counts: list[int] = []
    with open(folder / VECTORS, "wb") as file:
        for chunk in chunks:
            if not counts:
                dimensions = chunk[0].shape[1]
                write_header(file, "<f4", (0, dimensions))
            for rows in chunk:
                file.write(np.ascontiguousarray(rows, dtype="<f4").data)
                counts.append(len(rows))
        file.seek(0)
        write_header(file, "<f4", (sum(counts), dimensions))
    np.save(folder / OFFSETS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    write_record(folder, checkpoint)
    return _read(folder)


def open_index(folder: Path, documents: int, checkpoint: Path) -> TokenIndex:
    """The index of a corpus of so many documents. Raises UserError where it is damaged, or made of other weights."""
    read_record(folder, checkpoint)
    index = _read(folder)
    if len(index.counts) != documents:
        raise UserError(f"{folder}: of {len(index.counts)} documents, but the corpus has {documents}; encode it again")
    return index


def _read(folder: Path) -> TokenIndex:
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        offsets = np.load(folder / OFFSETS, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{folder}: not a complete index, delete it and encode again ({error})") from None
    fits = vectors.ndim == 2 and vectors.dtype == np.float32 and offsets.ndim == 1 and offsets.dtype == np.int64
    if not fits or len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(vectors) or (np.diff(offsets) < 1).any():
        raise UserError(f"{folder}: {OFFSETS} and {VECTORS} do not belong together; delete it and encode again")
    return TokenIndex(vectors, np.diff(offsets))
