"""Approximate search with faiss (see indices/approximate.py), and its recall.

The first queries are also searched exactly. `recall`, the share of the exact search's documents that are found, is
written to the timing with the speed of both. A shard is a part of the queries.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ranktrial.common.timing import clock
from ranktrial.inference.indices import folder_bytes, vectors
from ranktrial.inference.indices.approximate import open_index
from ranktrial.inference.searching import EACH, Request, answer, without
from ranktrial.inference.shards import rows_of_shard
from ranktrial.inference.vectors import check_dimensions
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.running import device

QUERIES = 32  # searched at a time, by one job or several; for fewer than 20, faiss finds the nearest lists differently
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
    how = asked.derived
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
        index_bytes=folder_bytes(asked.index),
        weights_bytes=weights_bytes(asked.checkpoint),
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


def search(asked: Request) -> None:
    """Write the run and the timing of a search, with its recall."""
    from ranktrial.inference import exact

    documents = len(asked.documents)
    index = open_index(asked.index, documents, asked.derived.parameters)
    whole = vectors.open_index(asked.vectors, documents)

    def found(encoded: np.ndarray) -> Found:
        return nearest(index, encoded, asked.places, asked.fetched)

    def exactly(encoded: np.ndarray) -> Found:
        return exact.search(encoded, whole, asked.places, asked.fetched, device())

    rank(asked, found, exactly)


def nearest(index: Any, queries: np.ndarray, places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The results for queries of shape (q, dimensions): scores and rows, of shape (q, min(k, documents)).

    In descending order of scores, ties by place (see exact.precedence); a missing document is row 0 with a score of
    minus infinity.
    """
    check_dimensions(queries.shape[1], index.d)
    k = min(k, index.ntotal)
    scores, rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    for first in range(0, len(queries), QUERIES):
        some = slice(first, first + QUERIES)
        scores[some], rows[some] = index.search(np.ascontiguousarray(queries[some], dtype=np.float32), k)
    scores = np.where(rows < 0, -np.inf, scores).astype(np.float32)
    order = np.lexsort((np.where(rows < 0, len(places), places[rows]), -scores), axis=1)
    return np.take_along_axis(scores, order, 1), np.take_along_axis(np.maximum(rows, 0), order, 1)


def recall(found: tuple[np.ndarray, np.ndarray], exact: tuple[np.ndarray, np.ndarray]) -> float:
    """The share of the exact search's documents that were found, averaged over queries.

    Any document with the lowest score kept by the exact search counts as found, since that keeps only some of the ties.
    Documents with a score of minus infinity were not found and do not count.
    """
    shares = []
    for scores, rows, every, numbers in zip(*found, *exact, strict=True):
        best, wanted = every[every > -np.inf], numbers[every > -np.inf]
        there = np.isin(wanted, rows[scores > -np.inf])
        if not len(best):
            continue
        count = there[best > best[-1]].sum() + min((best == best[-1]).sum(), tied(scores, rows, best, wanted))
        shares.append(count / len(best))
    return float(np.mean(shares)) if shares else 1.0


def tied(scores: np.ndarray, rows: np.ndarray, best: np.ndarray, wanted: np.ndarray) -> int:
    """The number of found documents with the lowest score kept by the exact search, including other ties."""
    above = wanted[best > best[-1]]
    kept = np.isin(wanted[best == best[-1]], rows[scores > -np.inf]).sum()
    others = (scores == best[-1]) & ~np.isin(rows, above)
    return int(max(kept, others.sum()))
