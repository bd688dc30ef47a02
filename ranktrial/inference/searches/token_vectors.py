"""Search with a model with one vector per token, such as ColBERT: the documents with the highest MaxSim.

The search is exact: all documents are compared, in parts of the index, so memory does not grow with it. Ties are kept
and ranked as in trec_eval: by descending id.
"""

from __future__ import annotations

import numpy as np

from ranktrial.inference.indices.token_vectors import open_index
from ranktrial.inference.searching import Request, answer
from ranktrial.models.running import device


def search(asked: Request) -> None:
    """Write the run and the timing of a search."""
    from ranktrial.inference import exact

    index = open_index(asked.index, len(asked.documents), asked.checkpoint)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([text for (text,) in texts])
        split, vectors = (np.array([len(rows) for rows in encoded]), index.counts), np.concatenate(encoded)
        shard = asked.settings.shard
        return exact.search(vectors, index.vectors, asked.places, asked.fetched, device(), split, shard)

    answer(asked, find)
