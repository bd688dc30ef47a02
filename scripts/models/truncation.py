"""Vectors cut to their first dimensions, as embeddings trained for it keep their meaning (Matryoshka: Kusupati et al.
2022). Whole vectors are stored once; each system takes of them what it wants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from scripts.common.errors import UserError
from scripts.models.adapters import Adapter


class Rows(Protocol):
    """Vectors that are read by slices of their rows, such as a matrix on disk."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice, /) -> np.ndarray: ...


def truncation(kind: Adapter, model: Any, dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """Let a model give the first dimensions of its vectors; returns what makes them of whole, stored vectors.

    Raises UserError for a kind of model whose vectors cannot be truncated, or that have fewer dimensions.
    """
    if not hasattr(kind, "truncate"):
        raise UserError(f"truncate_dim: a {kind.NAME} has no vectors that could be truncated; leave it out")
    return kind.truncate(model, dimensions)


def first_dimensions(vectors: np.ndarray, dimensions: int, unit: bool) -> np.ndarray:
    """The first dimensions of vectors (n, all of them), of unit length where `unit` is set: shape (n, dimensions).

    Raises UserError where the vectors have fewer.
    """
    check_dimensions(dimensions, vectors.shape[1])
    kept = np.array(vectors[:, :dimensions])
    if unit:
        kept /= np.maximum(np.linalg.norm(kept, axis=1, keepdims=True), np.float32(1e-12))
    return kept


def check_dimensions(dimensions: int, whole: int) -> None:
    """Raise UserError where so many dimensions are asked of vectors that have fewer."""
    if dimensions > whole:
        problem = f"truncate_dim is {dimensions}, but this model's vectors have {whole} dimensions"
        raise UserError(f"{problem}; lower it or leave it out")


class TruncatedRows:
    """The rows of a matrix on disk, truncated when they are looked at: memory does not grow with them."""

    def __init__(self, matrix: np.ndarray, truncate: Callable[[np.ndarray], np.ndarray]) -> None:
        self.matrix, self.truncate = matrix, truncate
        self.shape = (len(matrix), truncate(matrix[:1]).shape[1])

    def __len__(self) -> int:
        return len(self.matrix)

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.truncate(self.matrix[rows])


class TruncatedTexts(Mapping):
    """The vectors of texts by their ids, truncated when they are looked at."""

    def __init__(self, vectors: Mapping[str, Any], truncate: Callable[[np.ndarray], np.ndarray]) -> None:
        self.vectors, self.truncate = vectors, truncate

    def __getitem__(self, name: str) -> np.ndarray:
        return self.truncate(self.vectors[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.vectors)

    def __len__(self) -> int:
        return len(self.vectors)
