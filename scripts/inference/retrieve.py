"""Retrieve with a bi-encoder.

Reads a checkpoint, the corpus with its embeddings, and queries; writes a TREC run of the `depth` documents with the
highest similarity a query, found by exact search, and the timing. Documents of equal score are kept and ranked as
trec_eval ranks them: by descending id.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scripts.common.cli import parser
from scripts.common.collection import read_corpus, read_queries
from scripts.common.errors import UserError, run
from scripts.common.neural import device, encode, load_bi_encoder, precision
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.common.trec import write_run


def open_embeddings(path: Path, documents: int) -> np.ndarray:
    """The embeddings as a memory map. Raises UserError where they are damaged or of another corpus."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a complete NumPy file, delete it and encode again ({error})") from None
    if matrix.ndim != 2 or len(matrix) != documents:
        raise UserError(f"{path}: shape {matrix.shape}, but the corpus has {documents} documents; encode it again")
    return matrix


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "embeddings", "queries", "run", "timing").parse_args()
    settings = options.settings
    queries = read_queries(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    ids = [document.id for document in read_corpus(options.corpus)]
    documents = open_embeddings(options.embeddings, len(ids))
    model = load_bi_encoder(options.checkpoint, settings["max_length"])

    from scripts.inference.exact import precedence, search

    places = precedence(ids)

    def find(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        encoded = encode(model, texts, settings["batch_size"], "query")
        return search(encoded, documents, places, settings["depth"], device())

    texts = list(queries.values())
    find(texts[: settings["batch_size"]])  # the warm-up
    start = clock()
    scores, rows = find(texts)
    seconds = clock() - start
    singles = single_seconds(lambda text: find([text]), texts)
    found = {
        query: {ids[row]: score for row, score in zip(rows[n].tolist(), scores[n].tolist(), strict=True)}
        for n, query in enumerate(queries)
    }
    write_run(options.run, found, settings["tag"])
    print(f"{len(queries)} queries, {len(queries) / seconds:.1f} a second", file=sys.stderr)
    write_timing(
        options.timing,
        queries=len(queries),
        documents=len(ids),
        seconds=seconds,
        queries_per_second=len(queries) / seconds,
        latency_ms=latency(singles),
        precision=precision(),
        **settings,
    )


if __name__ == "__main__":
    run(main)
