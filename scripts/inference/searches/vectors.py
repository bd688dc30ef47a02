"""Retrieve with a model with one vector per text, such as a bi-encoder.

Reads a checkpoint, the corpus with its index, and queries; writes a TREC run of the `depth` documents with the highest
similarity per query, found by exact search, and the timing. Ties are kept and ranked as in trec_eval: by descending id.
Corpus and queries may be files of passages; the corpus must be that of the index.
"""

from __future__ import annotations

import numpy as np

from ranktrial.common.command_line import run
from ranktrial.inference.searching import Settings, answer, requested
from ranktrial.inference.vectors import open_vectors
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.running import device
from ranktrial.models.truncation import Rows, TruncatedRows, truncation

FLOAT = 4  # bytes of a number of the index


def main() -> None:
    asked = requested(__doc__, Settings)
    dimensions = asked.settings.truncate_dim
    passages = np.array(list(asked.documents.values()))
    documents: Rows = open_vectors(asked.options.index, passages.sum())
    if dimensions:
        documents = TruncatedRows(documents, truncation(asked.model_type, asked.model, dimensions))

    from ranktrial.inference.exact import search

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = asked.encode([passage for text in texts for passage in text])
        split = (np.array([len(text) for text in texts]), passages)
        return search(encoded, documents, asked.places, asked.fetched, device(), split, asked.settings.shard)

    sizes = {"dimensions": documents.shape[1], "index_bytes": len(documents) * documents.shape[1] * FLOAT}
    answer(asked, find, **sizes, weights_bytes=weights_bytes(asked.options.checkpoint))


if __name__ == "__main__":
    run(main)
