"""Exact search by dot product, 384 dimensions, the best 1,000: faiss's IndexFlatIP, and ours."""

from pathlib import Path

import numpy as np

from tests.benchmark.limits import on_gpu
from tests.benchmark.row import Result, Work

TITLE = "exact search, against faiss IndexFlatIP"
UNIT = "queries"
DIMENSIONS, DEPTH = 384, 1000
TOLERANCE = 1e-5  # of a dot product of unit vectors


def prepare(folder: Path, small: bool) -> int:
    """Write unit vectors, drawn: 1,000,000 documents and 1,000 queries, on a GPU 10,000."""
    drawn = np.random.default_rng(1)
    documents, queries = (5_000, 20) if small else (1_000_000, 10_000 if on_gpu() else 1_000)
    for name, count in (("documents", documents), ("queries", queries)):
        file = np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (count, DIMENSIONS))
        for first in range(0, count, 10_000):
            rows = drawn.standard_normal((min(10_000, count - first), DIMENSIONS), dtype=np.float32)
            file[first : first + len(rows)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        file.flush()
    return queries


def plain(folder: Path) -> Work:
    import faiss

    index = faiss.IndexFlatIP(DIMENSIONS)
    if on_gpu() and hasattr(faiss, "index_cpu_to_all_gpus"):  # a faiss for processors stays there
        index = faiss.index_cpu_to_all_gpus(index)
    index.add(np.load(folder / "documents.npy"))
    queries = np.load(folder / "queries.npy")

    def work() -> Result:
        scores, rows = index.search(queries, DEPTH)
        return {"scores": scores, "rows": rows}

    return work


def ours(folder: Path) -> Work:
    from ranktrial.inference.exact import search
    from ranktrial.models.running import device, keep_memory

    documents = np.load(folder / "documents.npy", mmap_mode="r")
    queries = np.load(folder / "queries.npy")
    places = np.arange(len(documents))
    keep_memory()  # as a job does that loads a model

    def work() -> Result:
        scores, rows = search(queries, documents, places, DEPTH, device())
        return {"scores": scores, "rows": rows}

    return work


SIDES = {"plain": plain, "ours": ours}


def operations(folder: Path) -> float:
    documents, queries = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("documents", "queries"))
    return 2.0 * len(documents) * len(queries) * DIMENSIONS


def agree(side: str, plain: Result, ours: Result) -> str:
    apart = float(np.abs(plain["scores"] - ours["scores"]).max())
    assert apart < TOLERANCE, f"scores are {apart:.1e} apart"
    for of_plain, of_ours, scores in zip(plain["rows"], ours["rows"], plain["scores"], strict=True):
        other = np.setxor1d(of_plain, of_ours)  # one may take another of two documents that are equal up to roundings
        least = scores[~np.isin(of_plain, other)].min()
        assert len(other) <= 2 or scores[-1] >= least - TOLERANCE, "other documents"
    shared = np.mean([len(np.intersect1d(a, b)) for a, b in zip(plain["rows"], ours["rows"], strict=True)])
    return f"{shared:.2f} of {plain['rows'].shape[1]} documents shared, scores at most {apart:.0e} apart"
