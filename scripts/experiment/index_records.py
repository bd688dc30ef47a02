"""Records of how a checkpoint and its index rank, which planning resolves and jobs read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.common.keys import given

TOKEN_VECTORS = "token-vectors"  # the form of an index with a vector for each token


@dataclass(frozen=True)
class Export:
    """A checkpoint in ONNX."""

    backend: str
    precision: str


@dataclass(frozen=True)
class Quantised:
    """Vectors of fewer bytes."""

    precision: Annotated[str, "of the index"]
    rescore_multiplier: Annotated[int, "how many times depth are scored again; 0: none"]


@dataclass(frozen=True)
class Nearest:
    """How faiss searches."""

    index: Annotated[str, "faiss's name of it"]
    efSearch: Annotated[int | None, "of a graph: candidates that a search keeps; null: as many as faiss takes"] = None
    nprobe: Annotated[int | None, "of an inverted file: lists that a search looks into; null: one"] = None

    @property
    def parameters(self) -> dict[str, object]:
        """What is given of how it is searched, by faiss's names."""
        return given(self, "index")
