"""Searches that leave out the documents excluded for a query. Reads and writes nothing."""

from __future__ import annotations

from typing import Protocol

from ranktrial.bm25.feedback import feeds_back, search_without
from ranktrial.ir.exclusion import Excluded, most, without
from ranktrial.ir.trec import Run


class Searches(Protocol):
    """The common interface of searchers of local indexes and of indexes on a server."""

    def batch(self, queries: dict[str, str], depth: int) -> Run: ...


def search_all(searcher: Searches, queries: dict[str, str], depth: int, excluded: Excluded) -> Run:
    """The `depth` best documents of each query that are not excluded for it, in the order of the queries.

    As many more documents are retrieved as are excluded. With feedback this would be wrong, since an excluded document
    would contribute terms to the query: there, queries with excluded documents are searched one by one among the
    others.
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
