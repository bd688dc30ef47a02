"""negatives/….mining.json: what was mined for a training, and how many candidates each rule removed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class MiningRecord:
    """`from_` are BM25 and systems, `rules` the values of the filters, `negatives` are counts per source."""

    from_: list[str]
    cross_encoder: str | None
    rules: dict[str, float]
    queries: int
    queries_without_positive_score: int
    queries_not_found: int
    queries_without_negatives: int
    queries_with_fewer_negatives: int
    equal_texts: int
    candidates: int
    filtered: dict[str, int]
    negatives: dict[str, int]
