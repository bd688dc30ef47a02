"""Records of the form of a checkpoint and of its index, resolved by planning and read by jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.keys import given

TOKEN_VECTORS = "token-vectors"  # the form of an index with a vector for each token


@dataclass(frozen=True)
class Export:
    """The export of a checkpoint to ONNX."""

    backend: str
    precision: str


@dataclass(frozen=True)
class Quantised:
    """The quantisation of vectors."""

    precision: Annotated[str, "of the index"]
    rescore_multiplier: Annotated[int, "how many times depth are scored again; 0: none"]


@dataclass(frozen=True)
class Nearest:
    """The settings of an approximate search with faiss."""

    index: Annotated[str, "faiss's name of it"]
    efSearch: Annotated[int | None, "of a graph: candidates that a search keeps; null: as many as faiss takes"] = None
    nprobe: Annotated[int | None, "of an inverted file: lists that a search looks into; null: one"] = None

    @property
    def parameters(self) -> dict[str, object]:
        """The given search parameters, by faiss's names."""
        return given(self, "index")
