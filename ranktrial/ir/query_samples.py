"""Samples and folds of queries, which depend only on a seed and the queries' ids; reads and writes nothing.

The fold of a training query is the part of all queries without which one of several models is trained. `fold_of` needs
no other query, so that training and the merging of the models' runs agree, and another query changes no fold: these
folds have about the same size. Those of `equal_folds` differ by at most one query, as few topics need.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence


def fold_of(query: str, folds: int, seed: int) -> int:
    """The number of a query's fold, from 1."""
    return int.from_bytes(hashlib.sha256(f"{seed}\tfold\t{query}".encode()).digest()[:8]) % folds + 1


def equal_folds(queries: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """The number of each query's fold, from 1."""
    drawn_order = sorted(set(queries), key=lambda query: hashlib.sha256(f"{seed}\tfold\t{query}".encode()).digest())
    return {query: place % folds + 1 for place, query in enumerate(drawn_order)}


def drawn(names: Sequence[str], size: int, *seed: object) -> list[str]:
    """A sample of `size` names, in their original order; a smaller sample is a subset of a larger one."""
    text = "\t".join(map(str, seed))
    first = sorted(names, key=lambda name: hashlib.sha256(f"{text}\t{name}".encode()).digest())[:size]
    chosen = set(first)
    return [name for name in names if name in chosen]
