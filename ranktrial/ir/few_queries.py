"""Tuning on few dev queries: the number below which a warning is given. Reads and writes nothing."""

from __future__ import annotations

LEAST = 10  # dev queries


def few_queries(queries: int) -> str | None:
    """A warning about a choice by this many dev queries; None if they are enough."""
    if queries >= LEAST:
        return None
    counted = "1 dev query" if queries == 1 else f"{queries} dev queries"
    return f"tuned on {counted}: with fewer than {LEAST}, the choice may be due to chance; use a larger dev split"
