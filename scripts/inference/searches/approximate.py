"""Retrieve with a model that gives each text a vector, by approximate search (see approximate.py).

Reads a checkpoint, the corpus with its vectors and their faiss index, and queries; writes a TREC run of the `depth`
best documents per query that the index finds, and the timing. The first queries are searched exactly as well: the share
of the exact search's documents that the index finds (`recall`) stands beside what it costs. A shard is of the queries.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np

from scripts.common.command_line import run
from scripts.common.timing import clock
from scripts.experiment.index_records import Nearest
from scripts.inference import searching
from scripts.inference.approximate import QUERIES, open_index, recall, search
from scripts.inference.index_files import folder_bytes
from scripts.inference.searching import EACH, Request, answer, requested, without
from scripts.inference.shards import rows_of_shard
from scripts.inference.vectors import open_vectors
from scripts.models.model_files import weights_bytes
from scripts.models.running import device

COMPARED = 1000  # queries that are searched exactly too, at most


@dataclass(frozen=True)
class Settings(searching.Settings):
    approximate: Annotated[Nearest, "the index and how it is searched"] = field(kw_only=True)


@dataclass(frozen=True)
class Compared:
    """The exact search beside the index's."""

    recall: float
    recall_queries: int
    search_queries_per_second: float
    exact_search_queries_per_second: float


def compared(asked: Request, index: Any, encoded: np.ndarray, vectors: np.ndarray, wanted: slice) -> Compared | None:
    """The exact search beside the index's for queries, shape (q, dimensions); None without any.

    `vectors` are those of the index; the queries are those that are `wanted` of all.
    """
    from scripts.inference import exact

    if not len(encoded):
        return None
    start = clock()
    best = exact.search(encoded, vectors, asked.places, asked.fetched, device())
    exact_seconds = clock() - start
    start = clock()
    found = search(index, encoded, asked.places, asked.fetched)
    seconds = clock() - start
    kept = [without(each, asked.left_out[wanted][: len(encoded)], asked.settings.depth) for each in (found, best)]
    queries = len(encoded)
    return Compared(recall(*kept), queries, queries / seconds, queries / exact_seconds)


def as_text(found: Compared, depth: int) -> str:
    """What `compared` found, for a person."""
    fast, exact = found.search_queries_per_second, found.exact_search_queries_per_second
    speeds = f"{fast:,.0f} queries per second, {exact:,.0f} exactly"
    return f"{found.recall:.4f} of the exact search's {depth} documents, {speeds}"


def main() -> None:
    asked = requested(__doc__, Settings, "vectors")
    options, how = asked.options, asked.settings.approximate
    index = open_index(options.index, len(asked.documents), how.parameters)
    vectors = open_vectors(options.vectors, len(asked.documents))

    def find(texts: list[list[str]], wanted: slice = EACH) -> tuple[np.ndarray, np.ndarray]:
        return search(index, asked.encode([text for (text,) in texts])[wanted], asked.places, asked.fetched)

    wanted = slice(*rows_of_shard(len(asked.queries), QUERIES, asked.settings.shard))
    encoded = asked.encode([text for (text,) in list(asked.queries.values())[:COMPARED]])[wanted]
    comparison = compared(asked, index, encoded, vectors, wanted)
    if comparison:
        print(f"{how.index}: {as_text(comparison, min(asked.settings.depth, len(vectors)))}", file=sys.stderr)
    answer(
        asked,
        find,
        wanted,
        index_bytes=folder_bytes(options.index),
        weights_bytes=weights_bytes(options.checkpoint),
        approximate=asdict(how),
        **(asdict(comparison) if comparison else {}),
    )


if __name__ == "__main__":
    run(main)
