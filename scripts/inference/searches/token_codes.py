"""Retrieve with a model with one vector per token, from residual codes of these vectors (see token_codes.py).

Reads a checkpoint, the corpus with its token vectors and their codes, and queries; writes a TREC run of the `depth`
best documents per query that are found, and the timing, with the recall of the search (see compared.py). A shard is a
part of the queries.
"""

from __future__ import annotations

import numpy as np

from ranktrial.common.command_line import run
from ranktrial.inference.compared import Found, rank
from ranktrial.inference.indices import token_vectors
from ranktrial.inference.searching import requested
from ranktrial.inference.token_codes import open_index, search
from ranktrial.models.running import device
from scripts.inference.searches.approximate import Settings


def main() -> None:
    from ranktrial.inference import exact

    asked = requested(__doc__, Settings, "vectors")
    documents = len(asked.documents)
    index = open_index(asked.options.index, documents, asked.settings.approximate.nprobe or 1)
    whole = token_vectors.open_index(asked.options.vectors, documents, asked.options.checkpoint)

    def found(encoded: list[np.ndarray]) -> Found:
        return search(index, encoded, asked.places, asked.fetched)

    def exactly(encoded: list[np.ndarray]) -> Found:
        split = (np.array([len(rows) for rows in encoded]), whole.counts)
        return exact.search(np.concatenate(encoded), whole.vectors, asked.places, asked.fetched, device(), split)

    rank(asked, found, exactly)


if __name__ == "__main__":
    run(main)
