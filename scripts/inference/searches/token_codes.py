"""Retrieve with a model with one vector per token, from residual codes of these vectors (see token_codes.py).

Reads a checkpoint, the corpus with its token vectors and their codes, and queries; writes a TREC run of the `depth`
best documents per query that are found, and the timing, with the recall of the search (see compared.py). A shard is a
part of the queries.
"""

from __future__ import annotations

import numpy as np

from scripts.common.command_line import run
from scripts.inference.compared import Found, rank
from scripts.inference.indices import token_vectors
from scripts.inference.searches.approximate import Settings
from scripts.inference.searching import requested
from scripts.inference.token_codes import open_index, search
from scripts.models.running import device


def main() -> None:
    from scripts.inference import exact

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
