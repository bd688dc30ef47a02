"""Scores of queries and documents from those of all pairs of their pieces, a chunk of pairs at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product

import numpy as np

from scripts.inference.aggregate import max_sum
from scripts.models.adapters import TextPair

CHUNK = 1024  # pairs scored between two lines of progress; sorted by length among themselves, to pad less

PiecesPair = tuple[list[str], list[str]]  # the pieces of a query, the pieces of a document


def aggregated(score: Callable[[list[TextPair]], np.ndarray], pairs: list[PiecesPair]) -> list[float]:
    """The score of each query and document from those of their pieces, which `score` gets all at once."""
    values = score([text_pair for query, document in pairs for text_pair in product(query, document)])
    scores, first = [], 0
    for query, document in pairs:
        last = first + len(query) * len(document)
        scores.append(max_sum(values[first:last].reshape(len(query), -1), np.array([len(document)])).item())
        first = last
    return scores


def chunks(pairs: Iterable[tuple[str, PiecesPair]], size: int = CHUNK) -> Iterator[list[tuple[str, PiecesPair]]]:
    """Named pairs in lists of about `size` pairs of pieces: whole queries and documents, at least one."""
    chunk: list[tuple[str, PiecesPair]] = []
    count = 0
    for name, (query, document) in pairs:
        chunk.append((name, (query, document)))
        count += len(query) * len(document)
        if count >= size:
            yield chunk
            chunk, count = [], 0
    if chunk:
        yield chunk


def piece_pairs(chunk: list[tuple[str, PiecesPair]]) -> int:
    """How many pairs of pieces a chunk holds."""
    return sum(len(query) * len(document) for _, (query, document) in chunk)
