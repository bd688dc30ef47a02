"""Documents that are excluded for a query: no run of it holds them, and no training takes them as its negatives.

Such are the query itself where it stands in the corpus (`own_document: drop`), and what a file names (`excluded`). A
prepared query file has them beside the query's text. A search fetches as many documents more and leaves them out before
it cuts at its depth. Reads and writes nothing.
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
    """The most documents that are excluded for one query."""
    return max(map(len, excluded.values()), default=0)
