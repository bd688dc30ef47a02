"""Retrieve with a model with one vector per token, such as ColBERT.

Reads a checkpoint, the corpus with its index, and queries; writes a TREC run of the `depth` documents with the highest
MaxSim per query, and the timing. The search is exact: all documents are compared, in parts of the index, so memory does
not grow with it. Ties are kept and ranked as in trec_eval: by descending id.
"""

from __future__ import annotations

import numpy as np

from ranktrial.common.command_line import run
from ranktrial.inference.indices.token_vectors import open_index
from ranktrial.inference.searching import Settings, answer, requested
from ranktrial.models.running import device


def main() -> None:
    asked = requested(__doc__, Settings)
    index = open_index(asked.options.index, len(asked.documents), asked.options.checkpoint)

    from ranktrial.inference.exact import search

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([text for (text,) in texts])
        split = (np.array([len(rows) for rows in encoded]), index.counts)
        vectors = np.concatenate(encoded)
        return search(vectors, index.vectors, asked.places, asked.fetched, device(), split, asked.settings.shard)

    answer(asked, find)


if __name__ == "__main__":
    run(main)
