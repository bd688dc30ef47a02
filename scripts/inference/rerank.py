"""Re-rank a first stage's run with a cross-encoder or a bi-encoder.

Reads a checkpoint, the corpus, queries and a run; scores the run's first `depth` documents a query (in trec_eval's
order) and writes them as a TREC run by the new scores, with the timing. A cross-encoder's score is its logit, a
bi-encoder's the similarity, each document and query encoded once (or the corpus's embeddings taken, where they are
given). Corpus and queries may be files of passages. Only the documents to score are kept in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.progress import Progress
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.inference.pairs import Scorer, aggregated, chunks, load_scorer, passage_pairs
from scripts.inference.vectors import encode_all, similarities, stored
from scripts.ir.collection import passages_of
from scripts.ir.trec import Run, read_run, top, write_run
from scripts.models.neural import encode, load_bi_encoder, precision

Candidates = dict[str, list[str]]  # query id -> document ids
Passages = dict[str, list[str]]  # id of a query or document -> its passages, or its one text


class Outcome(NamedTuple):
    """The new run, the seconds that all queries took together, those of single queries, and facts for the timing."""

    ranked: Run
    seconds: float
    singles: list[float]
    facts: dict


def candidates(first_stage: Run, queries: Passages, depth: int) -> Candidates:
    """The documents to score: the first `depth` a query, in the queries' order; a query without any is left out."""
    return {query: list(top(first_stage[query], depth)) for query in queries if first_stage.get(query)}


def read_documents(corpus: Path, wanted: Candidates, run_file: Path) -> Passages:
    """The texts of the candidates. Raises UserError where the run names a document that the corpus lacks."""
    needed = {document for documents in wanted.values() for document in documents}
    texts = passages_of(corpus, needed)
    missing = sorted(needed - texts.keys())
    if missing:
        raise UserError(
            f"{run_file}: {len(missing)} of its documents are not in {corpus}, such as {missing[0]}; "
            "the run belongs to another corpus"
        )
    return texts


def rank_by_pairs(score: Callable, wanted: Candidates, queries: Passages, texts: Passages) -> Run:
    """Score all pairs of a query and one of its candidates by `score` (pairs of texts -> array)."""
    pairs = [(query, (queries[query], texts[name])) for query, documents in wanted.items() for name in documents]
    progress = Progress("re-ranked", passage_pairs(pairs), "pair")
    scores: list[float] = []
    for chunk in chunks(pairs):
        scores += aggregated(score, [passages for _, passages in chunk])
        progress.add(passage_pairs(chunk))
    one_by_one = iter(scores)
    return {query: {document: next(one_by_one) for document in documents} for query, documents in wanted.items()}


def by_cross_encoder(scorer: Scorer, wanted: Candidates, queries: Passages, texts: Passages) -> Outcome:
    """Re-rank with a cross-encoder; the first query's candidates warm it up."""

    def single(query: str) -> object:
        return aggregated(scorer.score, [(queries[query], texts[document]) for document in wanted[query]])

    single(next(iter(wanted)))
    start = clock()
    ranked = rank_by_pairs(scorer.score, wanted, queries, texts)
    seconds = clock() - start
    return Outcome(ranked, seconds, single_seconds(single, list(wanted)), scorer.facts)


def by_bi_encoder(
    model, batch_size: int, wanted: Candidates, queries: Passages, texts: Passages, embeddings
) -> Outcome:
    """Re-rank with a bi-encoder; `embeddings` are the documents' `Vectors`, None where `texts` are to be encoded."""
    as_query = partial(encode, model, batch_size=batch_size, role="query")
    as_document = partial(encode, model, batch_size=batch_size, role="document")
    first = next(iter(wanted))
    encode_all(as_query, {first: queries[first]}, "warm-up")
    if embeddings is None:
        encode_all(as_document, {document: texts[document] for document in wanted[first]}, "warm-up")
    start = clock()
    vectors = encode_all(as_document, texts, "encoded documents") if embeddings is None else embeddings
    asked = encode_all(as_query, {query: queries[query] for query in wanted}, "encoded queries")
    ranked = {query: similarities(asked[query], wanted[query], vectors) for query in wanted}
    seconds = clock() - start

    def single(query: str) -> object:
        return similarities(as_query(queries[query]), wanted[query], vectors)

    return Outcome(ranked, seconds, single_seconds(single, list(wanted)), {"precision": precision()})


def main() -> None:
    names = ("checkpoint", "corpus", "embeddings*", "queries", "first-stage", "run", "timing")
    options = parser(__doc__, *names).parse_args()
    settings = options.settings
    queries = passages_of(options.queries)
    wanted = candidates(read_run(options.first_stage), queries, settings["depth"])
    if not wanted:
        raise UserError(f"{options.first_stage}: not one query of {options.queries} in it; it belongs to another task")
    texts = read_documents(options.corpus, wanted, options.first_stage)
    if settings["type"] == "cross-encoder":
        done = by_cross_encoder(load_scorer(options.checkpoint, settings), wanted, queries, texts)
    else:
        model = load_bi_encoder(options.checkpoint, settings["max_length"])
        embeddings = stored(options.embeddings[0], options.corpus) if options.embeddings else None
        done = by_bi_encoder(model, settings["batch_size"], wanted, queries, texts, embeddings)
    write_run(options.run, done.ranked, settings["tag"])
    pairs = [(query, document) for query, documents in wanted.items() for document in documents]
    speed = len(pairs) / done.seconds
    print(f"{len(wanted)} of {len(queries)} queries re-ranked, {speed:.1f} pairs a second", file=sys.stderr)
    write_timing(
        options.timing,
        queries=len(wanted),
        pairs=len(pairs),
        passage_pairs=sum(len(queries[query]) * len(texts[document]) for query, document in pairs),
        seconds=done.seconds,
        pairs_per_second=speed,
        queries_per_second=len(wanted) / done.seconds,
        latency_ms=latency(done.singles),
        **done.facts,
        **settings,
    )


if __name__ == "__main__":
    run(main)
