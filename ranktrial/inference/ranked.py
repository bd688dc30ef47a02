"""Candidates ranked by a loaded model of any type, in chunks of pairs; also used by the evaluation during training.

The score of a query and a document is made from those of all pairs of their passages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import product
from typing import Any, TypeVar

import numpy as np

from ranktrial.common.progress import Progress
from ranktrial.inference.candidates import Candidates, Passages
from ranktrial.inference.vectors import Vectors, encode_all, max_sim, similarities
from ranktrial.ir.trec import Run
from ranktrial.models.adapters import Adapter, TextPair
from ranktrial.models.batch_sizes import CHUNK
from ranktrial.models.cutting import Lengths, cutting_encoder, cutting_scorer

Name = TypeVar("Name")
PassagesPair = tuple[list[str], list[str]]  # the passages of a query, the passages of a document


def aggregated(score: Callable[[list[TextPair]], np.ndarray], pairs: list[PassagesPair]) -> list[float]:
    """The score of each query and document from those of their passages, which are scored together."""
    values = score([text_pair for query, document in pairs for text_pair in product(query, document)])
    scores, first = [], 0
    for query, document in pairs:
        last = first + len(query) * len(document)
        scores.append(max_sim(values[first:last].reshape(len(query), -1), np.array([len(document)])).item())
        first = last
    return scores


def chunks(pairs: Iterable[tuple[Name, PassagesPair]], size: int = CHUNK) -> Iterator[list[tuple[Name, PassagesPair]]]:
    """Named pairs in chunks of about `size` pairs of passages: whole pairs of texts, at least one."""
    chunk: list[tuple[Name, PassagesPair]] = []
    count = 0
    for name, (query, document) in pairs:
        chunk.append((name, (query, document)))
        count += len(query) * len(document)
        if count >= size:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk


def passage_pairs(chunk: list[tuple[Name, PassagesPair]]) -> int:
    """The number of pairs of passages in a chunk."""
    return sum(len(query) * len(document) for _, (query, document) in chunk)


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
