"""Which texts must not share a batch: losses that take the documents of other rows for negatives of a query would take
those, too, that are excluded for it, such as the query itself where it is another query's document.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from scripts.ir.collection import passages_of, read_excluded
from scripts.models.cutting import Cut, cut_columns
from scripts.training.examples import Table, with_texts

Apart = Mapping[str, list[str]]  # the text of a query -> the texts of documents
NOTHING_APART: Apart = MappingProxyType({})


def excluded_texts(table: Table, corpus: Path, queries: Path, cut: Cut | None) -> Apart:
    """Of the queries of a training set, by text, the documents of the set that are excluded for them; both as cut."""
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
    """All of them as one."""
    apart: dict[str, list[str]] = {}
    for part in parts:
        for query, texts in part.items():
            apart.setdefault(query, []).extend(texts)
    return apart
