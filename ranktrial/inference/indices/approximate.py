"""Approximate search by faiss, for corpora where comparing every vector takes too long: HNSW graphs and inverted files.

An index is named as in faiss's `index_factory`: `HNSW32` is a graph with 32 links per vector (Malkov and Yashunin
2020), `IVF1024,Flat` divides the vectors into 1,024 lists, `IVF1024,PQ48` also codes each in 48 bytes (Jégou et al.
2011). It compares by dot product, like the exact search. The same vectors give the same index: graphs are built by one
thread, since several would race for links, and lists are trained on a seeded sample.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ranktrial.common.errors import UserError, shortened
from ranktrial.common.keys import Length, Needs, Not, given
from ranktrial.common.processes import threads
from ranktrial.common.progress import Progress
from ranktrial.inference.indices import DerivedForm, Mistake, check_size, vectors

NAME = "approximate"
FAISS = "index.faiss"  # in the folder of an index
# Names of faiss indices: graphs, and inverted files with or without codes.
NAMES = r"HNSW\d+|(?:OPQ\d+(?:_\d+)?,)?IVF\d+,(?:Flat|SQ8|PQ\d+)"
ROWS = 65_536  # vectors added at a time
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
    check_size(folder, index.ntotal, documents, "build")
    faiss.omp_set_num_threads(threads())
    for name, value in parameters.items():
        faiss.ParameterSpace().set_index_parameter(index, name, value)
    return index


def _is_graph(index: str) -> bool:
    return index.startswith("HNSW")


def _has_lists(index: str) -> bool:
    return "IVF" in index


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of an approximate search with faiss."""

    index: Annotated[
        str,
        "faiss's name of the index: HNSW32 (a graph), IVF1024,Flat (lists), IVF1024,SQ8 or IVF1024,PQ48 (lists of "
        "codes), OPQ48,IVF1024,PQ48",
    ]
    efSearch: Annotated[
        Length | None,
        "number of candidates that a search keeps; default 16, and never fewer than depth",
        Needs("an index of HNSW", path="approximate.index", such=_is_graph),
    ] = None
    nprobe: Annotated[
        Length | None,
        "number of lists that a search visits; default 1",
        Needs("an index with IVF", path="approximate.index", such=_has_lists),
    ] = None


@dataclass(frozen=True)
class Nearest:
    """The settings of an approximate search with faiss."""

    index: Annotated[str, "faiss's name of it"]
    efSearch: Annotated[int | None, "of a graph: candidates that a search keeps; null: as many as faiss takes"] = None
    nprobe: Annotated[int | None, "of an inverted file: lists that a search looks into; null: one"] = None

    @property
    def name(self) -> str:
        return self.index

    @property
    def parameters(self) -> dict[str, object]:
        """The given search parameters, by faiss's names."""
        return given(self, "index")


class Approximate(DerivedForm):
    key, keys, settings, made_from = "approximate", Keys, Nearest, vectors.NAME
    description = (
        "bi-encoders and multi-vector models: faiss finds the nearest vectors, or token codes, without comparing "
        "all of them, and misses some; how many is measured"
    )
    refusal = "has an index of its own; only the vectors of bi-encoders and multi-vector models are searched so"
    conditions = (
        Not("truncate_dim or embeddings or long_documents: passages", "it searches whole vectors of whole texts"),
    )
    named = "approximate"
    compared = True

    def resolve(self, keys: Keys, passages: bool) -> Nearest:
        if not re.fullmatch(NAMES, keys.index):
            expected = "HNSW32, IVF1024,Flat, IVF1024,SQ8, IVF1024,PQ48 or OPQ48,IVF1024,PQ48, with other numbers"
            raise Mistake("index", f"{shortened(keys.index)} is none that can be built here; expected {expected}")
        self.check_name(keys.index)
        return Nearest(keys.index, keys.efSearch, keys.nprobe)

    def check_name(self, name: str) -> None:
        """Raise Mistake for an index that cannot be built from this form of vectors."""

    def text(self, settings: Nearest) -> str:
        further = [f", {key} {value}" for key, value in settings.parameters.items()]
        return f", searches the corpus approximately (faiss {settings.index}{''.join(further)})"

    def candidates(self, settings: Nearest) -> str:
        return f" by {settings.index}"

    def build(self, folder: Path, source: Path, name: str) -> dict[str, int]:
        of_corpus = vectors.read(source)
        write_index(build(of_corpus, name), folder)
        return {"documents": len(of_corpus)}


FORM = Approximate()
