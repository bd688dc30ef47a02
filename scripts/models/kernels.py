"""Which kernels models of torch compute with: the library's alone, or also faster ones on processors that have them.

The fast ones are oneDNN's products of packed weights (processor.py), those of trainings (trained_products.py), a last
layer for the first token alone (first_token.py) and batches of texts of like length side by side (token_batches.py,
side_by_side.py). Their numbers are the library's but for the rounding of fp32, which tests hold them to. On a GPU the
fast ones multiply in bf16 (running.py). The choice is the configuration's key `kernels`; a job makes it once, before it
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
    """Compute with these kernels from now on."""
    _chosen[0] = kernels


def fast() -> bool:
    """Whether the faster kernels may be used."""
    return _chosen[0] == FAST
