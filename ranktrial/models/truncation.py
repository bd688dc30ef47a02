"""Vectors truncated to their first dimensions, for embeddings trained for it (Matryoshka: Kusupati et al. 2022).

Full vectors are stored once; each system truncates them as it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.models.adapters import Adapter


class Rows(Protocol):
    """Vectors that are read by slices of rows, such as a matrix on disk."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice, /) -> np.ndarray: ...


def truncation(model_type: Adapter, model: Any, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """Truncate a model's vectors to their first dimensions; return a function that truncates stored full vectors.

    Raises UserError for a type of model whose vectors cannot be truncated, or if they have fewer dimensions.
    """
    if not hasattr(model_type, "truncate"):
        raise UserError(f"truncate_dim: a {model_type.NAME} has no vectors that could be truncated; leave it out")
    return model_type.truncate(model, dimensions)


def first_dimensions(vectors: np.ndarray, dimensions: int, unit: bool) -> np.ndarray:
    """The first dimensions of vectors (n, all of them), normalised if `unit` is set: shape (n, dimensions).

    Raises UserError if the vectors have fewer dimensions.
    """
    check_dimensions(dimensions, vectors.shape[1])
    kept = np.array(vectors[:, :dimensions])
    if unit:
        kept /= np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), np.float32(1e-12))
    return kept


def check_dimensions(dimensions: int, whole: int) -> None:
    """Raise UserError if the vectors have fewer dimensions than requested."""
    if dimensions > whole:
        problem = f"truncate_dim is {dimensions}, but this model's vectors have {whole} dimensions"
        raise UserError(f"{problem}; lower it or leave it out")


class TruncatedRows:
    """The rows of a matrix on disk, truncated on access, so that memory does not grow with the matrix."""

    def __init__(self, matrix: np.ndarray, truncate: Callable[[np.ndarray], np.ndarray]) -> None:
        self.matrix, self.truncate = matrix, truncate
        self.shape = (len(matrix), truncate(matrix[:1]).shape[1])

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.truncate(self.matrix[rows])


class TruncatedTexts(Mapping):
    """The vectors of texts by id, truncated on access."""

    def __init__(self, vectors: Mapping[str, Any], truncate: Callable[[np.ndarray], np.ndarray]) -> None:
        self.vectors, self.truncate = vectors, truncate

    def __getitem__(self, name: str) -> np.ndarray:
        return self.truncate(self.vectors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.vectors)

    def __len__(self) -> int:
        return len(self.vectors)
