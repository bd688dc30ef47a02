"""Which kernels models of torch compute with: the library's alone, or ours too, which are faster on some processors.

Ours are oneDNN's products of packed weights (processor.py), those of trainings (trained_products.py), a last layer for
the first token alone (first_token.py) and batches of texts of like length side by side (token_batches.py,
side_by_side.py). Their numbers are the library's but for the rounding of fp32, which tests hold them to. The choice is
the configuration's key `kernels`; a job makes it once, before it loads a model.
"""

from __future__ import annotations

OURS, LIBRARY = "ours", "library"
_chosen = [OURS]


def choose(kernels: str) -> None:
    """Compute with these kernels from now on: OURS or LIBRARY."""
    _chosen[0] = kernels


def ours() -> bool:
    """Whether our own kernels may be used."""
    return _chosen[0] == OURS
