"""The fold of a training query: the part of all queries without which one of several models is trained.

It follows from the query and the experiment's seed alone, so that training and what joins the models' runs agree, and
a further query changes no other's fold. Folds are about equally large. Reads and writes nothing.
"""

from __future__ import annotations

import hashlib


def fold_of(query: str, folds: int, seed: int) -> int:
    """The number of a query's fold, from 1."""
    return int.from_bytes(hashlib.sha256(f"{seed}\tfold\t{query}".encode()).digest()[:8]) % folds + 1
