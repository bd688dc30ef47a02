"""Samples and folds of queries; reads and writes nothing.

Samples of queries that depend only on a seed and the queries' ids.

The fold of a training query: the part of all queries without which one of several models is trained.

It depends only on the query and the experiment's seed, so that training and the merging of the models' runs agree, and
another query changes no fold. Folds have about the same size.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def fold_of(query: str, folds: int, seed: int) -> int:
    """The number of a query's fold, from 1."""
    return int.from_bytes(hashlib.sha256(f"{seed}\tfold\t{query}".encode()).digest()[:8]) % folds + 1


def drawn(names: Sequence[str], size: int, *seed: object) -> list[str]:
    """A sample of `size` names, in their original order; a smaller sample is a subset of a larger one."""
    text = "\t".join(map(str, seed))
    first = sorted(names, key=lambda name: hashlib.sha256(f"{text}\t{name}".encode()).digest())[:size]
    chosen = set(first)
    return [name for name in names if name in chosen]
