"""Documents that are excluded for a query: they are in none of its runs, and are not used as its negatives.

These are the query itself if it is in the corpus (`own_document: drop`), and documents that a file names (`excluded`).
A prepared query file lists them with the query's text. A search retrieves as many more documents and removes them
before it cuts at its depth. Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from types import MappingProxyType

Excluded = Mapping[str, Collection[str]]  # query id -> document ids; queries without any are absent
NOTHING: Excluded = MappingProxyType({})


def without(scores: Mapping[str, float], excluded: Collection[str], depth: int | None = None) -> dict[str, float]:
    """The first `depth` documents of a query (None: all) that are not excluded, in the order of `scores`."""
    return dict(islice((item for item in scores.items() if item[0] not in excluded), depth))


def most(excluded: Excluded) -> int:
    """The maximum number of documents that are excluded for a query."""
    return max(map(len, excluded.values()), default=0)
