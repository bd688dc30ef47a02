"""Scores of queries and documents from those of all pairs of their passages, in chunks of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import TypeVar

import numpy as np

from ranktrial.inference.aggregate import max_sim
from ranktrial.models.adapters import TextPair
from ranktrial.models.batch_sizes import CHUNK

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
