"""Retrieve with a model with one vector per text, by approximate search (see approximate.py).

Reads a checkpoint, the corpus with its vectors and their faiss index, and queries; writes a TREC run of the `depth`
best documents per query that the index finds, and the timing, with the recall of the index (see compared.py). A shard
is a part of the queries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import run
from ranktrial.experiment.index_records import Nearest
from ranktrial.inference import searching
from ranktrial.inference.approximate import open_index, search
from ranktrial.inference.compared import Found, rank
from ranktrial.inference.searching import requested
from ranktrial.inference.vectors import open_vectors
from ranktrial.models.running import device


@dataclass(frozen=True)
class Settings(searching.Settings):
    approximate: Annotated[Nearest, "the index and how it is searched"] = field(kw_only=True)


def main() -> None:
    from ranktrial.inference import exact

    asked = requested(__doc__, Settings, "vectors")
    documents = len(asked.documents)
    index = open_index(asked.options.index, documents, asked.settings.approximate.parameters)
    vectors = open_vectors(asked.options.vectors, documents)

    def found(encoded: np.ndarray) -> Found:
        return search(index, encoded, asked.places, asked.fetched)

    def exactly(encoded: np.ndarray) -> Found:
        return exact.search(encoded, vectors, asked.places, asked.fetched, device())

    rank(asked, found, exactly)


if __name__ == "__main__":
    run(main)
