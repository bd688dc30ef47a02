"""Texts that must not share a batch.

Losses with in-batch negatives would otherwise use documents that are excluded for a query, such as the query itself if
it is another query's document, and documents that are relevant to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from ranktrial.ir.collection import passages_of, read_excluded
from ranktrial.models.cutting import Cut, cut_columns
from ranktrial.training.examples import Table, with_texts

Apart = Mapping[str, list[str]]  # text of a query -> texts of documents
NOTHING_APART: Apart = MappingProxyType({})


def kept_apart(table: Table, corpus: Path, queries: Path, cut: Cut | None, relevant: bool) -> Apart:
    """For the queries of a training set, the documents in it to keep apart from them, as truncated texts.

    These are the excluded documents and, if asked for, the `relevant` ones.
    """
    apart = {query: set(names) for query, names in read_excluded(queries).items()}
    for query, name in [*((row.query, row.positive) for row in table.rows), *table.unfit] if relevant else []:
        apart.setdefault(query, set()).add(name)
    known = {name for row in table.rows for name in (row.positive, row.negative)}
    asked = dict.fromkeys(row.query for row in table.rows)
    pairs = [(query, name) for query in asked for name in sorted(apart.get(query, set()) & known)]
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
