"""What a recipe says of its negatives: where they are from, and what filters them. Reads and writes nothing.

`from` is bm25, random, a system of the configuration, or a list of these (without random) that are taken in turn.
"""

from __future__ import annotations

from typing import Any

BM25, RANDOM = "bm25", "random"
MARGINS = ("absolute_margin", "relative_margin")
FILTERS = (*MARGINS, "max_score", "min_score")
CROSS_ENCODER = "cross_encoder"

Negatives = dict[str, Any]


def sources(negatives: Negatives) -> list[str]:
    """All that the negatives are from, in their order."""
    given: str | list[str] = negatives["from"]
    return given if isinstance(given, list) else [given]


def systems(negatives: Negatives) -> list[str]:
    """The systems of the configuration that the negatives are from."""
    return [name for name in sources(negatives) if name not in (BM25, RANDOM)]


def filters(negatives: Negatives) -> dict[str, float]:
    """The rules that filter the negatives, with their values."""
    return {rule: negatives[rule] for rule in FILTERS if rule in negatives}


def mined(negatives: Negatives) -> bool:
    """Whether the negatives are more than BM25's or random ones: from systems, from several, or filtered."""
    return bool(isinstance(negatives["from"], list) or systems(negatives) or filters(negatives))
