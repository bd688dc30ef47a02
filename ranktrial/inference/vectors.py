"""Vectors of texts, one row per passage (or token): computed here or read from an index of the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container
from itertools import chain, groupby
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse

from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.inference.aggregate import max_sim
from ranktrial.ir.collection import read_texts

VECTORS = "vectors.npy"  # in the folder of an index
CHUNK = 1024  # texts encoded between two progress lines

# id -> float32 of shape (passages, dimensions) or (tokens, dimensions); sparse, of shape (1, terms)
Vectors = dict[str, Any]


def open_matrix(path: Path) -> np.ndarray:
    """A NumPy file as a memory map. Raises UserError if it is damaged."""
    try:
        matrix: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a complete NumPy file, delete it and encode again ({error})") from None
    return matrix


def write_header(file: BinaryIO, kind: str, shape: tuple[int, ...]) -> None:
    """Write the header of a NumPy file; its length is the same for any number of rows, since NumPy reserves space."""
    np.lib.format.write_array_header_1_0(file, {"descr": kind, "fortran_order": False, "shape": shape})


def open_rows(path: Path, rows: int) -> np.ndarray:
    """A NumPy file as a memory map with `rows` rows. Raises UserError if it is damaged or of another corpus."""
    matrix = open_matrix(path)
    if matrix.ndim != 2 or len(matrix) != rows:
        raise UserError(f"{path}: shape {matrix.shape}, but the corpus has {rows} documents; encode it again")
    return matrix


def open_vectors(index: Path, rows: int) -> np.ndarray:
    """The vectors in an index of `rows` documents or passages, as a memory map. Raises UserError as `open_rows`."""
    return open_rows(index / VECTORS, rows)


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
    matrix = open_vectors(index, end)
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
