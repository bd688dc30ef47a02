"""Samples of queries that depend only on a seed and the queries' ids; reads and writes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def drawn(names: Sequence[str], size: int, *seed: object) -> list[str]:
    """A sample of `size` names, in their original order; a smaller sample is a subset of a larger one."""
    text = "\t".join(map(str, seed))
    first = sorted(names, key=lambda name: hashlib.sha256(f"{text}\t{name}".encode()).digest())[:size]
    chosen = set(first)
    return [name for name in names if name in chosen]
