"""Vectors of texts by a bi-encoder, a row a passage: made here or taken from the corpus's embeddings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from scripts.common.errors import UserError
from scripts.common.progress import Progress
from scripts.inference.aggregate import max_sim
from scripts.ir.collection import read_texts

CHUNK = 1024  # texts encoded between two lines of progress

Vectors = dict[str, np.ndarray]  # id -> float32 of shape (passages, dimensions)


def open_embeddings(path: Path, rows: int) -> np.ndarray:
    """The embeddings of a corpus as a memory map of so many rows. Raises UserError where they are damaged or others."""
    try:
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise UserError(f"{path}: not a complete NumPy file, delete it and encode again ({error})") from None
    if matrix.ndim != 2 or len(matrix) != rows:
        raise UserError(f"{path}: shape {matrix.shape}, but the corpus has {rows} documents; encode it again")
    return matrix


def passage_counts(texts: Path) -> dict[str, int]:
    """How many lines (passages) each id of a corpus or file of passages has, in the file's order."""
    return dict(Counter(name for name, _ in read_texts(texts)))


def stored(embeddings: Path, corpus: Path) -> Vectors:
    """The vectors of all documents of a corpus (or of its passages), left on disk until they are looked at."""
    counts = passage_counts(corpus)
    matrix = open_embeddings(embeddings, sum(counts.values()))
    ends = np.cumsum(list(counts.values())).tolist()
    return {name: matrix[end - count : end] for (name, count), end in zip(counts.items(), ends, strict=True)}


def encode_all(encoder: Callable[[list[str]], np.ndarray], texts: dict[str, list[str]], label: str) -> Vectors:
    """Encode each passage once by `encoder`."""
    passages = [passage for some in texts.values() for passage in some]
    progress = Progress(label, len(passages), "text")
    parts = []
    for first in range(0, len(passages), CHUNK):
        parts.append(encoder(passages[first : first + CHUNK]))
        progress.add(len(parts[-1]))
    ends = np.cumsum([len(some) for some in texts.values()])
    return dict(zip(texts, np.split(np.concatenate(parts), ends[:-1]), strict=True))


def similarities(query: np.ndarray, documents: list[str], vectors: Vectors) -> dict[str, float]:
    """The scores of documents for a query of shape (passages, dimensions), by the dot products of their passages."""
    found = [vectors[name] for name in documents]
    scores = max_sim(query @ np.concatenate(found).T, np.array([len(one) for one in found]))
    return dict(zip(documents, scores.tolist(), strict=True))
