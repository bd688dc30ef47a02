"""Samples of queries that depend on a seed and the queries' ids alone; reads and writes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def drawn(names: Sequence[str], size: int, *seed: object) -> list[str]:
    """So many of the names, in their own order; a smaller sample is part of a larger one."""
    text = "\t".join(map(str, seed))
    first = sorted(names, key=lambda name: hashlib.sha256(f"{text}\t{name}".encode()).digest())[:size]
    chosen = set(first)
    return [name for name in names if name in chosen]
