"""Seeded draws of training queries, positives and negatives.

Each draw follows from a text (its key) alone, which names the seed, the query and what else it may depend on: so a
further query changes nobody else's examples, and the order of what is drawn from does not matter.
"""

from __future__ import annotations

import hashlib
import random


def sample(names: list[str], count: int, key: str) -> list[str]:
    """`count` of the names (all if there are fewer), in their own order.

    Which ones depends on the key alone, not on the order; a smaller sample is part of a larger one of the same key.
    """
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{key}\t{name}".encode()).digest())[:count]
    chosen = set(drawn)
    return [name for name in names if name in chosen]


def sample_key(seed: int, number: int, size: int | str, independent: bool) -> str:
    """The key of the sample of this number. Nested samples of all sizes have one; the first is the seed itself.

    Independent samples of different sizes have different keys, and so have nothing in common but by chance.
    """
    if independent:
        return f"{seed}\tsample {number} of {size}"
    return f"{seed}" if number == 1 else f"{seed}\tsample {number}"


def of_query(key: str, query: str, epoch: int | None) -> str:
    """The key of what is drawn for one query, in one epoch where each has a draw of its own."""
    return f"{key}\t{query}" if epoch is None else f"{key}\t{query}\tepoch {epoch}"


def drawn(pool: list[str], unfit: set[str], count: int, key: str) -> list[str]:
    """`count` documents drawn evenly from the pool without those unfit; fewer where there are no more."""
    # So many are drawn that enough remain, whatever is unfit among them.
    candidates = random.Random(key).sample(pool, min(len(pool), count + len(unfit)))
    return [document for document in candidates if document not in unfit][:count]
