"""Approximate search by faiss, for corpora where comparing every vector takes too long: HNSW graphs and inverted files.

An index is named as in faiss's `index_factory`: `HNSW32` is a graph with 32 links per vector (Malkov and Yashunin
2020), `IVF1024,Flat` divides the vectors into 1,024 lists, `IVF1024,PQ48` also codes each in 48 bytes (Jégou et al.
2011). It compares by dot product, like the exact search. The same vectors give the same index: graphs are built by one
thread, since several would race for links, and lists are trained on a seeded sample.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.common.threads import threads
from ranktrial.inference.vectors import check_dimensions

FAISS = "index.faiss"  # in the folder of an index
ROWS = 65_536  # vectors added at a time
QUERIES = 32  # searched at a time, by one job or several; for fewer than 20, faiss finds the nearest lists differently
A_LIST = 256  # maximum number of training vectors per list, as in faiss
SEED = 1


def build(vectors: np.ndarray, name: str) -> Any:
    """The faiss index of this name over vectors of shape (n, dimensions), which may be a memory map.

    Raises UserError if there are too few vectors, or their dimensions do not match the index.
    """
    import faiss

    index = trained(vectors, name)
    faiss.omp_set_num_threads(1 if name.startswith("HNSW") else threads())
    progress = Progress("indexed", len(vectors), "vector")
    for first in range(0, len(vectors), ROWS):
        rows = np.ascontiguousarray(vectors[first : first + ROWS], dtype=np.float32)
        index.add(rows)
        progress.add(len(rows))
    return index


def trained(vectors: np.ndarray, name: str) -> Any:
    """The trained index, without the vectors. Raises UserError as `build`."""
    import faiss

    try:
        index = faiss.index_factory(vectors.shape[1], name, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            faiss.omp_set_num_threads(threads())
            index.train(sample(vectors, name))
    except RuntimeError as error:  # all that faiss raises
        (problem, *_) = re.findall(r"failed: (.*)", str(error)) or [str(error).strip().splitlines()[-1]]
        shape = f"{len(vectors)} vectors of {vectors.shape[1]} dimensions"
        raise UserError(f"approximate.index: {name} does not fit {shape}: {problem}") from None
    return index


def sample(vectors: np.ndarray, name: str) -> np.ndarray:
    """The training vectors of an index: all, or a seeded sample in their order."""
    (lists,) = re.findall(r"IVF(\d+)", name)
    most = A_LIST * int(lists)
    if len(vectors) <= most:
        return np.ascontiguousarray(vectors, dtype=np.float32)
    rows = np.random.default_rng(SEED).choice(len(vectors), most, replace=False)
    return np.ascontiguousarray(vectors[np.sort(rows)], dtype=np.float32)


def write_index(index: Any, folder: Path) -> None:
    """Write an index into an empty folder."""
    import faiss

    faiss.write_index(index, str(folder / FAISS))


def open_index(folder: Path, documents: int, parameters: dict[str, int]) -> Any:
    """The index of a corpus with this number of documents, searched with faiss's parameters (efSearch, nprobe).

    Raises UserError if it is damaged or of another corpus.
    """
    import faiss

    try:
        index = faiss.read_index(str(folder / FAISS))
    except RuntimeError:
        raise UserError(f"{folder}: not a complete faiss index, delete it and build it again") from None
    if index.ntotal != documents:
        raise UserError(f"{folder}: of {index.ntotal} documents, but the corpus has {documents}; build it again")
    faiss.omp_set_num_threads(threads())
    for name, value in parameters.items():
        faiss.ParameterSpace().set_index_parameter(index, name, value)
    return index


def search(index: Any, queries: np.ndarray, places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The results for queries of shape (q, dimensions): scores and rows, of shape (q, min(k, documents)).

    In descending order of scores, ties by place (see exact.precedence); a missing document is row 0 with a score of
    minus infinity.
    """
    check_dimensions(queries.shape[1], index.d)
    k = min(k, index.ntotal)
    scores, rows = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
    for first in range(0, len(queries), QUERIES):
        some = slice(first, first + QUERIES)
        scores[some], rows[some] = index.search(np.ascontiguousarray(queries[some], dtype=np.float32), k)
    scores = np.where(rows < 0, -np.inf, scores).astype(np.float32)
    order = np.lexsort((np.where(rows < 0, len(places), places[rows]), -scores), axis=1)
    return np.take_along_axis(scores, order, 1), np.take_along_axis(np.maximum(rows, 0), order, 1)


def recall(found: tuple[np.ndarray, np.ndarray], exact: tuple[np.ndarray, np.ndarray]) -> float:
    """The share of the exact search's documents that were found, averaged over queries.

    Any document with the lowest score kept by the exact search counts as found, since that keeps only some of the ties.
    Documents with a score of minus infinity were not found and do not count.
    """
    shares = []
    for scores, rows, every, numbers in zip(*found, *exact, strict=True):
        best, wanted = every[every > -np.inf], numbers[every > -np.inf]
        there = np.isin(wanted, rows[scores > -np.inf])
        if not len(best):
            continue
        count = there[best > best[-1]].sum() + min((best == best[-1]).sum(), tied(scores, rows, best, wanted))
        shares.append(count / len(best))
    return float(np.mean(shares)) if shares else 1.0


def tied(scores: np.ndarray, rows: np.ndarray, best: np.ndarray, wanted: np.ndarray) -> int:
    """The number of found documents with the lowest score kept by the exact search, including other ties."""
    above = wanted[best > best[-1]]
    kept = np.isin(wanted[best == best[-1]], rows[scores > -np.inf]).sum()
    others = (scores == best[-1]) & ~np.isin(rows, above)
    return int(max(kept, others.sum()))
