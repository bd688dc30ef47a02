"""Retrieve with a bi-encoder.

Reads a checkpoint, the corpus with its embeddings, and queries; writes a TREC run of the `depth` documents with the
highest similarity a query, found by exact search, and the timing. Documents of equal score are kept and ranked as
trec_eval ranks them: by descending id. Corpus and queries may be files of passages, the corpus that of the embeddings.
"""

from __future__ import annotations

import sys

import numpy as np

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.inference.vectors import open_embeddings, passage_counts
from scripts.ir.collection import passages_of
from scripts.ir.trec import write_run
from scripts.models.neural import device, encode, load_bi_encoder, precision


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "embeddings", "queries", "run", "timing").parse_args()
    settings = options.settings
    queries = passages_of(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    counts = passage_counts(options.corpus)
    ids, passages = list(counts), np.array(list(counts.values()))
    documents = open_embeddings(options.embeddings, sum(counts.values()))
    model = load_bi_encoder(options.checkpoint, settings["max_length"])

    from scripts.inference.exact import precedence, search

    places = precedence(ids)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        encoded = encode(model, [passage for text in texts for passage in text], settings["batch_size"], "query")
        split = (np.array([len(text) for text in texts]), passages)
        return search(encoded, documents, places, settings["depth"], device(), split)

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
