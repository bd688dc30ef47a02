"""The index of a model with one vector per text: a folder with `vectors.npy`, one row per document or passage.

The rows, float32 and in the corpus's order, are written chunk by chunk, and read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ranktrial.inference.indices import Array, appending, check_size, read_arrays

NAME = "vectors"
ROWS = 65_536  # rows of a shard copied at a time


def write_index(folder: Path, chunks: Iterable[np.ndarray], checkpoint: Path, shard: bool = False) -> np.ndarray:
    """Write the chunks of documents' vectors into an empty folder.

    Only a shard may have no document. Raises UserError for vectors of different dimensions.
    """
    with appending(folder / "vectors.npy", "<f4", checkpoint, (0,)) as add:
        for rows in chunks:
            add(rows)
    return read(folder)


def facts(index: np.ndarray) -> dict[str, float]:
    """The entries of an index in the timing: none, since they follow from the documents and the model."""
    return {}


def open_shard(folder: Path, checkpoint: Path) -> Iterator[np.ndarray]:
    """The rows of a shard, in chunks. Raises UserError if it is damaged."""
    matrix = read(folder)
    yield from (matrix[first : first + ROWS] for first in range(0, len(matrix), ROWS))


def open_index(folder: Path, rows: int) -> np.ndarray:
    """The vectors of a corpus of `rows` documents or passages. Raises UserError if it is damaged or of another."""
    matrix = read(folder)
    check_size(folder, len(matrix), rows)
    return matrix


def read(folder: Path) -> np.ndarray:
    """The vectors, float32 of shape (rows, dimensions), as a memory map. Raises UserError if the index is damaged."""
    return read_arrays(folder, {"vectors": Array(np.float32, 2)})[0]
