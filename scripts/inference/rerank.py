"""Re-rank a first stage's run with a cross-encoder or a bi-encoder.

Reads a checkpoint, the corpus, queries and a run; scores the run's first `depth` documents a query (in trec_eval's
order) and writes them as a TREC run by the new scores, with the timing. A cross-encoder's score is its logit, a
bi-encoder's the similarity, each document and query encoded once. Only those documents are kept in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from scripts.common.cli import parser
from scripts.common.collection import contents_of, read_queries
from scripts.common.errors import UserError, run
from scripts.common.neural import autocast, encode, finite, load_bi_encoder, load_cross_encoder, precision
from scripts.common.progress import Progress
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.common.trec import Run, read_run, top, write_run

CHUNK = 1024  # pairs or texts between two lines of progress

Candidates = dict[str, list[str]]  # query id -> document ids


def candidates(first_stage: Run, queries: dict[str, str], depth: int) -> Candidates:
    """The documents to score: the first `depth` a query, in the queries' order; a query without any is left out."""
    return {query: list(top(first_stage[query], depth)) for query in queries if first_stage.get(query)}


def read_documents(corpus: Path, wanted: Candidates, run_file: Path) -> dict[str, str]:
    """The texts of the candidates. Raises UserError where the run names a document that the corpus lacks."""
    needed = {document for documents in wanted.values() for document in documents}
    texts = contents_of(corpus, needed)
    missing = sorted(needed - texts.keys())
    if missing:
        raise UserError(
            f"{run_file}: {len(missing)} of its documents are not in {corpus}, such as {missing[0]}; "
            "the run belongs to another corpus"
        )
    return texts


def score_pairs(model, pairs: list[tuple[str, str]], batch_size: int) -> np.ndarray:
    """A cross-encoder's logits for (query, document) pairs of texts: float32 of shape (pairs,), all finite."""
    import torch

    with autocast():
        scores = model.predict(pairs, batch_size=batch_size, activation_fn=torch.nn.Identity(), show_progress_bar=False)
    return finite(scores.astype(np.float32, copy=False))


def rank_by_pairs(score: Callable, wanted: Candidates, queries: dict[str, str], texts: dict[str, str]) -> Run:
    """Score all pairs of a query and one of its candidates by `score` (pairs of texts -> array)."""
    pairs = [(query, document) for query, documents in wanted.items() for document in documents]
    progress = Progress("re-ranked", len(pairs), "pair")
    ranked: Run = {query: {} for query in wanted}
    for first in range(0, len(pairs), CHUNK):
        some = pairs[first : first + CHUNK]
        scores = score([(queries[query], texts[document]) for query, document in some])
        for (query, document), value in zip(some, scores.tolist(), strict=True):
            ranked[query][document] = value
        progress.add(len(some))
    return ranked


def encode_all(encoder: Callable, texts: dict[str, str], label: str) -> dict[str, np.ndarray]:
    """Encode each text once by `encoder` (texts -> array): id -> vector."""
    progress = Progress(label, len(texts), "text")
    ids, vectors = list(texts), {}
    for first in range(0, len(ids), CHUNK):
        some = ids[first : first + CHUNK]
        vectors |= zip(some, encoder([texts[name] for name in some]), strict=True)
        progress.add(len(some))
    return vectors


def similarities(vector: np.ndarray, documents: list[str], vectors: dict[str, np.ndarray]) -> dict[str, float]:
    """The dot product of a query's vector with each of the documents'."""
    scores = np.stack([vectors[document] for document in documents]) @ vector
    return dict(zip(documents, scores.tolist(), strict=True))


def main() -> None:
    options = parser(__doc__, "checkpoint", "corpus", "queries", "first-stage", "run", "timing").parse_args()
    settings = options.settings
    batch_size = settings["batch_size"]
    queries = read_queries(options.queries)
    wanted = candidates(read_run(options.first_stage), queries, settings["depth"])
    if not wanted:
        raise UserError(f"{options.first_stage}: not one query of {options.queries} in it; it belongs to another task")
    texts = read_documents(options.corpus, wanted, options.first_stage)
    asked = {query: queries[query] for query in wanted}
    first = next(iter(wanted))
    if settings["type"] == "cross-encoder":
        model = load_cross_encoder(options.checkpoint, settings["max_length"])
        score = partial(score_pairs, model, batch_size=batch_size)

        def single(query: str) -> object:
            return score([(queries[query], texts[document]) for document in wanted[query]])

        single(first)  # the warm-up
        start = clock()
        ranked = rank_by_pairs(score, wanted, asked, texts)
        seconds = clock() - start
    else:
        model = load_bi_encoder(options.checkpoint, settings["max_length"])
        as_query = partial(encode, model, batch_size=batch_size, role="query")
        as_document = partial(encode, model, batch_size=batch_size, role="document")
        as_document([texts[document] for document in wanted[first]])  # the warm-up
        start = clock()
        vectors = encode_all(as_document, texts, "encoded documents")
        query_vectors = encode_all(as_query, asked, "encoded queries")
        ranked = {query: similarities(query_vectors[query], wanted[query], vectors) for query in wanted}
        seconds = clock() - start

        def single(query: str) -> object:
            return similarities(as_query([queries[query]])[0], wanted[query], vectors)

    singles = single_seconds(single, list(wanted))
    pairs = sum(map(len, wanted.values()))
    write_run(options.run, ranked, settings["tag"])
    print(f"{len(wanted)} of {len(queries)} queries re-ranked, {pairs / seconds:.1f} pairs a second", file=sys.stderr)
    write_timing(
        options.timing,
        queries=len(wanted),
        pairs=pairs,
        seconds=seconds,
        pairs_per_second=pairs / seconds,
        queries_per_second=len(wanted) / seconds,
        latency_ms=latency(singles),
        precision=precision(),
        **settings,
    )


if __name__ == "__main__":
    run(main)
