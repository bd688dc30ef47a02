"""Vectors of texts, one row per passage (or token): computed here or read from an index, and their similarities.

MaxSim, from the scores of all pairs of a passage of the query and a passage of the document: the score of a document is
the sum, over the query's passages, of the maximum over the document's passages. If neither text was split, it is the
score of the one pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.inference.indices.vectors import open_index
from ranktrial.ir.collection import read_texts

if TYPE_CHECKING:
    import torch

CHUNK = 1024  # texts encoded between two progress lines

# id -> float32 of shape (passages, dimensions) or (tokens, dimensions); sparse, of shape (1, terms)
Vectors = dict[str, Any]


def passage_counts(texts: Path) -> dict[str, int]:
    """The number of lines (passages) of each id of a corpus or file of passages, in the file's order."""
    return dict(Counter(name for name, _ in read_texts(texts)))


def stored(index: Path, corpus: Path, wanted: Container[str]) -> Vectors:
    """The vectors of some documents in an index of their corpus or passages, on disk until they are read."""
    rows: dict[str, tuple[int, int]] = {}
    end = 0
    for name, passages in groupby(read_texts(corpus), key=lambda line: line[0]):
        start, end = end, end + sum(1 for _ in passages)
        if name in wanted:
            rows[name] = start, end
    matrix = open_index(index, end)
    return {name: matrix[start:end] for name, (start, end) in rows.items()}


def encode_all(encoder: Callable[[list[str]], Any], texts: dict[str, list[str]], label: str) -> Vectors:
    """Encode each passage once with `encoder`; for vectors of tokens or sparse vectors, each text as a whole."""
    passages = [passage for its_passages in texts.values() for passage in its_passages]
    progress = Progress(label, len(passages), "text")
    parts = []
    for first in range(0, len(passages), CHUNK):
        parts.append(encoder(passages[first : first + CHUNK]))
        progress.add(len(passages[first : first + CHUNK]))
    if scipy.sparse.issparse(parts[0]):
        whole = scipy.sparse.vstack(parts, "csr")
        return {name: whole[[row]] for row, name in enumerate(texts)}
    if isinstance(parts[0], list):
        return dict(zip(texts, chain.from_iterable(parts), strict=True))
    ends = np.cumsum([len(its_passages) for its_passages in texts.values()])
    return dict(zip(texts, np.split(np.concatenate(parts), ends[:-1]), strict=True))


def check_dimensions(of_queries: int, of_index: int) -> None:
    """Raise UserError if queries and documents have different numbers of dimensions."""
    if of_queries != of_index:
        problem = f"the queries have {of_queries} dimensions, the documents {of_index}"
        raise UserError(f"{problem}: one model must encode both; delete the index and encode again")


def of_one_text(encoded: Any) -> Any:
    """The vectors of one text, from an encoder's output for its passages (for token vectors, the whole text)."""
    return encoded[0] if isinstance(encoded, list) else encoded


def similarities(query: Any, documents: list[str], vectors: Vectors) -> dict[str, float]:
    """The scores of documents for a query of shape (passages or tokens, dimensions), by MaxSim of dot products."""
    rows = [vectors[name] for name in documents]
    check_dimensions(query.shape[1], rows[0].shape[1])
    if scipy.sparse.issparse(query):
        products = (scipy.sparse.vstack(rows, "csr") @ query.T).toarray()[:, 0]
        return dict(zip(documents, products.tolist(), strict=True))
    scores = max_sim(query @ np.concatenate(rows).T, np.array([len(its_rows) for its_rows in rows]))
    return dict(zip(documents, scores.tolist(), strict=True))


def max_sim(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The scores of documents for one query.

    `scores` has shape (passages of the query, passages of all documents), with the passages of a document adjacent.
    `counts` (documents,) is their number for each document, at least one. Returns shape (documents,).
    """
    starts = np.cumsum(counts) - counts
    return np.maximum.reduceat(scores, starts, axis=1).sum(axis=0)


def max_sims(scores: torch.Tensor, query_counts: torch.Tensor, document_counts: torch.Tensor) -> torch.Tensor:
    """`max_sim` of many queries at once, on any device.

    `scores` has shape (passages of all queries, passages of all documents), with those of a text adjacent. Returns
    shape (queries, documents).
    """
    import torch

    of_documents = torch.segment_reduce(scores.T.contiguous(), "max", lengths=document_counts, axis=0)
    return torch.segment_reduce(of_documents.T.contiguous(), "sum", lengths=query_counts, axis=0)
