"""Seeded sampling of training queries, positives and negatives.

Each draw depends only on a text (its key), which names the seed, the query and anything else that it may depend on: so
an additional query does not change the examples of others, and the order of the items does not matter.
"""

from __future__ import annotations

import hashlib
import random


def sample(names: list[str], count: int, key: str) -> list[str]:
    """`count` of the names (all if there are fewer), in their original order.

    The selection depends only on the key, not on the order; a smaller sample is a subset of a larger one with the same
    key.
    """
    drawn = sorted(names, key=lambda name: hashlib.sha256(f"{key}\t{name}".encode()).digest())[:count]
    chosen = set(drawn)
    return [name for name in names if name in chosen]


def sample_key(seed: int, number: int, size: int | str, independent: bool) -> str:
    """The key of sample `number`. Nested samples of all sizes share one key; the key of the first is the seed itself.

    Independent samples of different sizes have different keys, so they overlap only by chance.
    """
    if independent:
        return f"{seed}\tsample {number} of {size}"
    return f"{seed}" if number == 1 else f"{seed}\tsample {number}"


def of_query(key: str, query: str, epoch: int | None) -> str:
    """The key of the draws for one query, and for one epoch if each epoch has its own draws."""
    return f"{key}\t{query}" if epoch is None else f"{key}\t{query}\tepoch {epoch}"


def drawn(pool: list[str], unfit: set[str], count: int, key: str) -> list[str]:
    """`count` documents drawn uniformly from the pool, excluding unfit ones; fewer if there are not enough."""
    # Enough are drawn that `count` remain even if all unfit documents are among them.
    candidates = random.Random(key).sample(pool, min(len(pool), count + len(unfit)))
    return [document for document in candidates if document not in unfit][:count]
