"""Searches in which a query does not find the documents that are excluded for it. Reads and writes nothing."""

from __future__ import annotations

from typing import Protocol

from scripts.bm25.feedback import feeds_back, search_without
from scripts.ir.exclusion import Excluded, most, without
from scripts.ir.trec import Run


class Searches(Protocol):
    """What the searchers of indexes here and on a server have in common."""

    def batch(self, queries: dict[str, str], depth: int) -> Run: ...


def search_all(searcher: Searches, queries: dict[str, str], depth: int, excluded: Excluded) -> Run:
    """The `depth` best documents of each query that are not excluded for it, in the order of the queries.

    As many more are searched for and left out. With feedback this would not do, since an excluded document would give
    the query its terms: there the queries that exclude any are searched among the others, one by one.
    """
    if feeds_back(searcher):
        plain = {query: text for query, text in queries.items() if query not in excluded}
        found = searcher.batch(plain, depth)
        return {
            query: found[query] if query in plain else search_without(searcher, text, excluded[query], depth)
            for query, text in queries.items()
        }
    found = searcher.batch(queries, depth + most(excluded))
    return {query: without(scores, excluded.get(query, ()), depth) for query, scores in found.items()}
