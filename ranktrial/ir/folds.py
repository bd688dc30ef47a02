"""The fold of a training query: the part of all queries without which one of several models is trained.

It depends only on the query and the experiment's seed, so that training and the merging of the models' runs agree, and
another query changes no fold. Folds have about the same size. Reads and writes nothing.
"""

from __future__ import annotations

import hashlib


def fold_of(query: str, folds: int, seed: int) -> int:
    """The number of a query's fold, from 1."""
    return int.from_bytes(hashlib.sha256(f"{seed}\tfold\t{query}".encode()).digest()[:8]) % folds + 1
