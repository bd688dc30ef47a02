"""Candidates ranked by a loaded model of any type; also used by the evaluation during training."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ranktrial.common.progress import Progress
from ranktrial.inference.candidates import Candidates, Passages
from ranktrial.inference.pairs import aggregated, chunks, passage_pairs
from ranktrial.inference.vectors import Vectors, encode_all, similarities
from ranktrial.ir.trec import Run
from ranktrial.models.adapters import Adapter
from ranktrial.models.batch_sizes import CHUNK
from ranktrial.models.cutting import Lengths, cutting_encoder, cutting_scorer


def rank_by_pairs(score: Callable, wanted: Candidates, queries: Passages, texts: Passages, size: int = CHUNK) -> Run:
    """Score all pairs of a query and a candidate with `score` (pairs of texts -> array), `size` at a time."""
    pairs = [(query, (queries[query], texts[name])) for query, documents in wanted.items() for name in documents]
    progress = Progress("re-ranked", passage_pairs(pairs), "pair")
    scores: list[float] = []
    for chunk in chunks(pairs, size):
        scores += aggregated(score, [passages for _, passages in chunk])
        progress.add(passage_pairs(chunk))
    one_by_one = iter(scores)
    return {query: {document: next(one_by_one) for document in documents} for query, documents in wanted.items()}


def rank_by_vectors(
    encode: Callable[..., Any],
    wanted: Candidates,
    queries: Passages,
    texts: Passages,
    embeddings: Vectors | None = None,
) -> Run:
    """Compare each query with its candidates by the vectors of `encode` (texts, role).

    `embeddings` are the documents' vectors, None if `texts` are to be encoded.
    """
    as_query, as_document = partial(encode, role="query"), partial(encode, role="document")
    vectors = encode_all(as_document, texts, "encoded documents") if embeddings is None else embeddings
    query_vectors = encode_all(as_query, {query: queries[query] for query in wanted}, "encoded queries")
    return {query: similarities(query_vectors[query], wanted[query], vectors) for query in wanted}


def rank(
    model_type: Adapter,
    model: Any,
    lengths: Lengths,
    batch_size: int,
    wanted: Candidates,
    queries: Passages,
    texts: Passages,
) -> Run:
    """The candidates ranked by a loaded model, as in inference."""
    if model_type.SEARCHES:
        encode = partial(cutting_encoder(model_type, model, lengths), batch_size=batch_size)
        return rank_by_vectors(encode, wanted, queries, texts)
    return rank_by_pairs(cutting_scorer(model_type.scorer(model, batch_size), lengths).score, wanted, queries, texts)
