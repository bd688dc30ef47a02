"""Re-rank a first stage's run with a model of any type (see ranktrial/models/adapters.py).

Reads a checkpoint, the corpus, queries and a run. Scores the run's first `depth` documents per query (in trec_eval's
order) and writes them as a TREC run by the new scores, with the timing. A model that searches, such as a bi-encoder,
encodes each document and query once (unless the corpus's index is given), and their similarity is the score. Any other
model, such as a cross-encoder, scores each pair; a shard (see shards.py) scores a part of the pairs. Corpus and queries
may be files of passages. Only the documents to be scored are in memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject
from ranktrial.common.timing import clock, single_seconds, write_timing
from ranktrial.inference.candidates import Candidates, Passages, candidates, read_documents
from ranktrial.inference.ranked import aggregated, chunks, rank_by_pairs, rank_by_vectors
from ranktrial.inference.ranking_settings import RerankingSettings as Settings
from ranktrial.inference.shards import latencies, part
from ranktrial.inference.vectors import Vectors, encode_all, of_one_text, similarities, stored
from ranktrial.ir.collection import passages_of
from ranktrial.ir.trec import Run, read_run, write_run
from ranktrial.models.adapters import Scorer, adapter
from ranktrial.models.batch_sizes import CHUNK
from ranktrial.models.cutting import cutting_encoder, cutting_scorer
from ranktrial.models.kept_answers import keep_answers_beside
from ranktrial.models.kernels import choose
from ranktrial.models.loaded import load_prompted, load_scorer
from ranktrial.models.model_files import weights_bytes
from ranktrial.models.prompts import prompts_of, reported_settings
from ranktrial.models.running import computed_by
from ranktrial.models.truncation import TruncatedTexts, truncation


class Outcome(NamedTuple):
    """The new run, the seconds of all queries together, those of single queries, and entries for the timing."""

    ranked: Run
    seconds: float
    singles: list[float]
    facts: dict


def of_shard(wanted: Candidates, queries: Passages, texts: Passages, shard: list[int], size: int = CHUNK) -> Candidates:
    """The candidates that a shard scores: whole chunks of pairs, so that its first and last query may be partial."""
    pairs = (
        ((query, name), (queries[query], texts[name])) for query, documents in wanted.items() for name in documents
    )
    its: Candidates = {}
    for chunk in part(list(chunks(pairs, size)), shard):
        for (query, document), _ in chunk:
            its.setdefault(query, []).append(document)
    return its


def by_pairs(
    scorer: Scorer, wanted: Candidates, queries: Passages, texts: Passages, shard: list[int] | None = None
) -> Outcome:
    """Re-rank with a model of pairs, or the part in a shard; the first query's candidates are the warm-up."""

    def single(query: str) -> object:
        return aggregated(scorer.score, [(queries[query], texts[document]) for document in wanted[query]])

    single(next(iter(wanted)))
    its = of_shard(wanted, queries, texts, shard, scorer.chunk) if shard else wanted
    start = clock()
    ranked = rank_by_pairs(scorer.score, its, queries, texts, scorer.at_once)
    seconds = clock() - start
    begun = [query for query, documents in its.items() if documents[0] == wanted[query][0]]  # each in exactly one shard
    return Outcome(ranked, seconds, single_seconds(single, begun), scorer.facts)


def by_vectors(
    encode: Callable[..., Any],
    wanted: Candidates,
    queries: Passages,
    texts: Passages,
    embeddings: Vectors | None,
    facts: JsonObject,
) -> Outcome:
    """Re-rank with a model of vectors, by `encode` (texts, role -> vectors), with the metadata `facts`.

    `embeddings` are the documents' vectors, None if `texts` are to be encoded.
    """
    as_query = partial(encode, role="query")
    as_document = partial(encode, role="document")
    first = next(iter(wanted))
    encode_all(as_query, {first: queries[first]}, "warm-up")
    if embeddings is None:
        encode_all(as_document, {document: texts[document] for document in wanted[first]}, "warm-up")
    start = clock()
    vectors = encode_all(as_document, texts, "encoded documents") if embeddings is None else embeddings
    ranked = rank_by_vectors(encode, wanted, queries, texts, vectors)
    seconds = clock() - start

    def single(query: str) -> object:
        return similarities(of_one_text(as_query(queries[query])), wanted[query], vectors)

    return Outcome(ranked, seconds, single_seconds(single, list(wanted)), facts)


def rerank(
    checkpoint: Path, corpus: Path, index: list[Path], queries: Path, first_stage: Path, run: Path, timing: Path,
    settings: Settings,
) -> None:  # fmt: skip
    """Re-rank a first stage's run with a model of any type (see ranktrial/models/adapters.py)."""
    text_of = passages_of(queries)
    wanted = candidates(read_run(first_stage), text_of, settings.depth)
    if not wanted:
        raise UserError(f"{first_stage}: no query of {queries} in it; it belongs to another task")
    texts = read_documents(corpus, wanted, first_stage)
    choose(settings.kernels)
    keep_answers_beside(run)
    model_type = adapter(settings.type)
    if model_type.SEARCHES:
        if settings.shard:
            raise UserError("shard: pairs are scored in shards, and this model compares vectors; leave it out")
        model = load_prompted(model_type, checkpoint, settings)
        embeddings = stored(index[0], corpus, texts) if index else None
        if settings.truncate_dim:
            truncate = truncation(model_type, model, settings.truncate_dim)
            embeddings = TruncatedTexts(embeddings, truncate) if embeddings is not None else None
        encode = partial(cutting_encoder(model_type, model, settings), batch_size=settings.batch_size)
        outcome = by_vectors(encode, wanted, text_of, texts, embeddings, computed_by(model_type, model))
        prompts = prompts_of(model_type, model)
    else:
        prompts = {}  # a scorer's prompts are among its facts
        scorer = cutting_scorer(load_scorer(model_type, checkpoint, settings), settings)
        outcome = by_pairs(scorer, wanted, text_of, texts, settings.shard)
    write_run(run, outcome.ranked, settings.tag)
    pairs = [(query, document) for query, documents in outcome.ranked.items() for document in documents]
    speed = len(pairs) / outcome.seconds
    print(f"{len(outcome.ranked)} of {len(text_of)} queries re-ranked, {speed:.1f} pairs per second", file=sys.stderr)
    write_timing(
        timing,
        queries=len(outcome.ranked),
        pairs=len(pairs),
        passage_pairs=sum(len(text_of[query]) * len(texts[document]) for query, document in pairs),
        seconds=outcome.seconds,
        pairs_per_second=speed,
        queries_per_second=len(outcome.ranked) / outcome.seconds,
        **latencies(outcome.singles, settings.shard),
        weights_bytes=weights_bytes(checkpoint),
        **outcome.facts,
        **reported_settings(settings, prompts),
    )


if __name__ == "__main__":
    job(rerank)
