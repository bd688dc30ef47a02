"""Retrieve with a model that gives each text a vector, by approximate search (see approximate.py).

Reads a checkpoint, the corpus with its embeddings and their faiss index, and queries; writes a TREC run of the `depth`
best documents per query that the index finds, and the timing. The first queries are searched exactly as well: the share
of the exact search's documents that the index finds (`recall`) stands beside what it costs.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from typing import Annotated

import numpy as np

from scripts.common.command_line import run
from scripts.common.timing import clock
from scripts.inference import searching
from scripts.inference.approximate import open_index, recall, search
from scripts.inference.searching import answer, requested
from scripts.inference.vectors import open_embeddings
from scripts.models.model_files import weights_bytes
from scripts.models.running import device

COMPARED = 1000  # queries that are searched exactly too, at most


@dataclass(frozen=True)
class Approximate:
    index: Annotated[str, "faiss's name of it"]
    efSearch: Annotated[int | None, "of a graph: candidates that a search keeps; null: as many as faiss takes"] = None
    nprobe: Annotated[int | None, "of an inverted file: lists that a search looks into; null: one"] = None

    @property
    def parameters(self) -> dict[str, int]:
        """What is given of how it is searched, by faiss's names."""
        told = {"efSearch": self.efSearch, "nprobe": self.nprobe}
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True)
class Settings(searching.Settings):
    approximate: Annotated[Approximate, "the index and how it is searched"] = field(kw_only=True)


def main() -> None:
    asked = requested(__doc__, "index", Settings, "embeddings")
    options, how, depth = asked.options, asked.settings.approximate, asked.settings.depth
    index = open_index(options.index, len(asked.documents), how.parameters)
    vectors = open_embeddings(options.embeddings, len(asked.documents))

    from scripts.inference import exact

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        return search(index, asked.encode([text for (text,) in texts]), asked.places, depth)

    encoded = asked.encode([text for (text,) in list(asked.queries.values())[:COMPARED]])
    start = clock()
    best = exact.search(encoded, vectors, asked.places, depth, device())
    exact_seconds = clock() - start
    start = clock()
    found = search(index, encoded, asked.places, depth)
    seconds = clock() - start
    share = recall(found, best)
    speed = f"{len(encoded) / seconds:,.0f} queries a second, {len(encoded) / exact_seconds:,.0f} exactly"
    print(f"{how.index}: {share:.4f} of the exact search's {best[1].shape[1]} documents, {speed}", file=sys.stderr)
    answer(
        asked,
        find,
        index_bytes=options.index.stat().st_size,
        weights_bytes=weights_bytes(options.checkpoint),
        approximate=asdict(how),
        recall=share,
        recall_queries=len(encoded),
        search_queries_per_second=len(encoded) / seconds,
        exact_search_queries_per_second=len(encoded) / exact_seconds,
    )


if __name__ == "__main__":
    run(main)
