"""The recall of approximate search: the first queries are also searched exactly, and both results are compared.

`recall`, the share of the exact search's documents that are found, is written to the timing with the speed of both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ranktrial.common.timing import clock
from ranktrial.inference.approximate import QUERIES, recall
from ranktrial.inference.index_files import folder_bytes
from ranktrial.inference.searching import EACH, Request, answer, without
from ranktrial.inference.shards import rows_of_shard
from ranktrial.models.model_files import weights_bytes

COMPARED = 1000  # maximum number of queries that are also searched exactly

Found = tuple[np.ndarray, np.ndarray]
Search = Callable[[Any], Found]  # of encoded queries: the scores and numbers of the best documents


@dataclass(frozen=True)
class Compared:
    """The comparison of exact and approximate search."""

    recall: float
    recall_queries: int
    search_queries_per_second: float
    exact_search_queries_per_second: float


def rank(asked: Request, search: Search, exactly: Search) -> None:
    """Search for all queries, or those of a shard; the first ones also exactly. Writes the run and the timing."""
    how = asked.settings.approximate
    wanted = slice(*rows_of_shard(len(asked.queries), QUERIES, asked.settings.shard))
    encoded = asked.encode([text for (text,) in list(asked.queries.values())[:COMPARED]])[wanted]
    comparison = compared(asked, search, exactly, encoded, wanted)
    if comparison:
        print(f"{how.index}: {as_text(comparison, min(asked.settings.depth, len(asked.documents)))}", file=sys.stderr)

    def find(texts: list[list[str]], wanted: slice = EACH) -> Found:
        return search(asked.encode([text for (text,) in texts])[wanted])

    answer(
        asked,
        find,
        wanted,
        index_bytes=folder_bytes(asked.options.index),
        weights_bytes=weights_bytes(asked.options.checkpoint),
        approximate=asdict(how),
        **(asdict(comparison) if comparison else {}),
    )


def compared(asked: Request, search: Search, exactly: Search, encoded: Any, wanted: slice) -> Compared | None:
    """The comparison for encoded queries, the `wanted` ones of all; None without any."""
    if not len(encoded):
        return None
    start = clock()
    best = exactly(encoded)
    exact_seconds = clock() - start
    start = clock()
    found = search(encoded)
    seconds = clock() - start
    kept = [without(each, asked.left_out[wanted][: len(encoded)], asked.settings.depth) for each in (found, best)]
    queries = len(encoded)
    return Compared(recall(*kept), queries, queries / seconds, queries / exact_seconds)


def as_text(found: Compared, depth: int) -> str:
    """The result of `compared` as text."""
    fast, exact = found.search_queries_per_second, found.exact_search_queries_per_second
    speeds = f"{fast:,.0f} queries per second, {exact:,.0f} exactly"
    return f"{found.recall:.4f} of the exact search's {depth} documents, {speeds}"
