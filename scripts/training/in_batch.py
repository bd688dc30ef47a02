"""Texts that must not share a batch.

Losses with in-batch negatives would otherwise use documents that are excluded for a query, such as the query itself if
it is another query's document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from scripts.ir.collection import passages_of, read_excluded
from scripts.models.cutting import Cut, cut_columns
from scripts.training.examples import Table, with_texts

Apart = Mapping[str, list[str]]  # text of a query -> texts of documents
NOTHING_APART: Apart = MappingProxyType({})


def excluded_texts(table: Table, corpus: Path, queries: Path, cut: Cut | None) -> Apart:
    """For the queries of a training set, the documents in it that are excluded for them, as truncated texts."""
    excluded = read_excluded(queries)
    known = {name for row in table.rows for name in (row.positive, row.negative)}
    asked = dict.fromkeys(row.query for row in table.rows)
    pairs = [(query, name) for query in asked for name in sorted(excluded.get(query, set()) & known)]
    if not pairs:
        return {}
    by_id = {"anchor": [query for query, _ in pairs], "positive": [name for _, name in pairs]}
    documents = passages_of(corpus, set(by_id["positive"]))
    texts = cut_columns(with_texts(by_id, passages_of(queries), documents), cut)
    return joined([{query: [text]} for query, text in zip(texts["anchor"], texts["positive"], strict=True)])


def joined(parts: Iterable[Apart]) -> Apart:
    """All parts merged into one mapping."""
    apart: dict[str, list[str]] = {}
    for part in parts:
        for query, texts in part.items():
            apart.setdefault(query, []).extend(texts)
    return apart
