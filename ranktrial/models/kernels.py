"""The kernels of torch models: only the library's, or also faster ones on processors that support them.

The fast kernels are oneDNN products with packed weights (processor.py), oneDNN products in training
(trained_products.py), a last layer for the first token only (cross_encoding.py) and concurrent batches of texts of
similar length (token_batches.py). Their results equal the library's up to fp32 rounding, which tests verify. On a GPU,
the fast kernels multiply in bf16 (running.py). The configuration key `kernels` decides; a job sets it once, before it
loads a model.
"""

from __future__ import annotations

from typing import Annotated, Literal

FAST: Literal["fast"] = "fast"
LIBRARY: Literal["library"] = "library"
Kernels = Annotated[
    Literal["fast", "library"],
    "how torch models compute; fast: faster matrix products and batching on processors that support them, with "
    "numbers equal up to fp32 rounding, and bf16 on a GPU that supports it; library: torch and "
    "sentence-transformers alone, in fp32 on a GPU too, for example for a published study",
]
_chosen: list[Literal["fast", "library"]] = [FAST]


def choose(kernels: Literal["fast", "library"]) -> None:
    """Use these kernels from now on."""
    _chosen[0] = kernels


def fast() -> bool:
    """Whether the faster kernels may be used."""
    return _chosen[0] == FAST
