"""Search with a model with one vector per text, such as a bi-encoder: the documents with the highest similarity.

The search is exact. Ties are kept and ranked as in trec_eval: by descending id. Corpus and queries may be files of
passages; the corpus must be that of the index.
"""

from __future__ import annotations

import numpy as np

from ranktrial.inference.indices.vectors import open_index
from ranktrial.inference.searching import Request, answer
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.running import device
from ranktrial.models.truncation import Rows, TruncatedRows, truncation

FLOAT = 4  # bytes of a number of the index


def search(asked: Request) -> None:
    """Write the run and the timing of a search."""
    from ranktrial.inference import exact

    dimensions = asked.settings.truncate_dim
    passages = np.array(list(asked.documents.values()))
    documents: Rows = open_index(asked.index, passages.sum())
    if dimensions:
        documents = TruncatedRows(documents, truncation(asked.model_type, asked.model, dimensions))

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([passage for text in texts for passage in text])
        split = (np.array([len(text) for text in texts]), passages)
        return exact.search(encoded, documents, asked.places, asked.fetched, device(), split, asked.settings.shard)

    sizes = {"dimensions": documents.shape[1], "index_bytes": len(documents) * documents.shape[1] * FLOAT}
    answer(asked, find, **sizes, weights_bytes=weights_bytes(asked.checkpoint))
