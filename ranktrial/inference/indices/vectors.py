"""The index of a model with one vector per text: a folder with `vectors.npy`, one row per document or passage.

The rows, float32 and in the corpus's order, are written chunk by chunk, and read as a memory map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.inference.vectors import VECTORS, open_matrix, write_header

NAME = "vectors"
ROWS = 65_536  # rows of a shard copied at a time


def write_index(folder: Path, chunks: Iterable[np.ndarray], checkpoint: Path, shard: bool = False) -> np.ndarray:
    """Write the chunks of documents' vectors into an empty folder.

    Only a shard may have no document. Raises UserError for vectors of different dimensions.
    """
    count = dimensions = 0
    with open(folder / VECTORS, "wb") as file:
        for rows in chunks:
            if not count:
                dimensions = rows.shape[1]
                write_header(file, "<f4", (0, dimensions))
            if rows.shape[1] != dimensions:
                raise UserError(f"{checkpoint}: vectors of {dimensions} and of {rows.shape[1]} dimensions")
            file.write(np.ascontiguousarray(rows, "<f4").data)
            count += len(rows)
        file.seek(0)
        write_header(file, "<f4", (count, dimensions))
    return open_matrix(folder / VECTORS)


def facts(index: np.ndarray) -> dict[str, float]:
    """The entries of an index in the timing: none, since they follow from the documents and the model."""
    return {}


def open_shard(folder: Path, checkpoint: Path) -> Iterator[np.ndarray]:
    """The rows of a shard, in chunks. Raises UserError if it is damaged."""
    matrix = open_matrix(folder / VECTORS)
    yield from (matrix[first : first + ROWS] for first in range(0, len(matrix), ROWS))
