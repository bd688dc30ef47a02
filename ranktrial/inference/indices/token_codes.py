"""Token vectors in residual codes: late interaction with a fraction of the storage (ColBERTv2, Santhanam et al. 2022).

A token's vector is coded as the nearest centroid and a code of the difference from it, by faiss's product or scalar
quantiser: `IVF4096,PQ32` has 4,096 centroids and codes of 32 bytes. A search (after PLAID, Santhanam et al. 2022)
selects the documents with a token at one of the `nprobe` centroids nearest to a token of the query, keeps the best of
them by MaxSim of centroids, and ranks these by MaxSim of the decoded vectors.

An index is a folder: `codec.faiss` (trained, without vectors), `codes.npy` (one row per token, document by document),
`offsets.npy` (the start of each document, and the end of the last), and the documents of each centroid:
`documents.npy`, `ends.npy`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.processes import threads
from ranktrial.common.progress import Progress
from ranktrial.inference.indices import (
    Array,
    Mistake,
    are_offsets,
    check_size,
    check_together,
    read_arrays,
    token_vectors,
)
from ranktrial.inference.indices.approximate import ROWS, Approximate, trained

NAME = "token-codes"
CODEC = "codec.faiss"
ARRAYS = {
    "codes": Array(np.uint8, 2),
    "offsets": Array(np.int64, mapped=False),
    "documents": Array(np.int32, mapped=False),
    "ends": Array(np.int64, mapped=False),
}


class TokenCodes(NamedTuple):
    """An open index; codes remain on disk."""

    codec: Any
    centroids: np.ndarray  # (centroids, dimensions)
    codes: np.ndarray
    offsets: np.ndarray
    documents: np.ndarray  # of the first centroid, then the second, …
    ends: np.ndarray  # the end of each centroid's documents
    nprobe: int

    def of_centroids(self, centroids: np.ndarray) -> np.ndarray:
        """The documents with a token at one of these centroids."""
        firsts = np.where(centroids, self.ends[centroids - 1], 0)
        parts = [self.documents[first:end] for first, end in zip(firsts, self.ends[centroids], strict=True)]
        return np.unique(np.concatenate(parts))

    def tokens(self, documents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the tokens of documents, and their number per document."""
        counts = self.offsets[documents + 1] - self.offsets[documents]
        before = np.repeat(np.cumsum(counts) - counts, counts)
        return self.codes[np.repeat(self.offsets[documents], counts) + np.arange(counts.sum()) - before], counts


def write_index(folder: Path, vectors: np.ndarray, counts: np.ndarray, name: str) -> None:
    """Code token vectors, `counts` per document, into an empty folder. Raises UserError as `trained`."""
    import faiss

    codec = trained(vectors, name)
    faiss.omp_set_num_threads(threads())
    shape = (len(vectors), codec.sa_code_size())
    codes = np.lib.format.open_memmap(folder / "codes.npy", mode="w+", dtype=np.uint8, shape=shape)
    progress = Progress("coded", len(vectors), "token")
    for first in range(0, len(vectors), ROWS):
        rows = np.ascontiguousarray(vectors[first : first + ROWS], dtype=np.float32)
        codes[first : first + ROWS] = codec.sa_encode(rows)
        progress.add(len(rows))
    codes.flush()
    of_tokens = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(centroids_of(codes, codec) * len(counts) + of_tokens)
    faiss.write_index(codec, str(folder / CODEC))
    np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(folder / "documents.npy", (pairs % len(counts)).astype(np.int32))
    np.save(folder / "ends.npy", np.cumsum(np.bincount(pairs // len(counts), minlength=codec.nlist)))


def centroids_of(codes: np.ndarray, codec: Any) -> np.ndarray:
    """The number of the centroid at the start of each code."""
    return sum(codes[:, byte].astype(np.int64) << (8 * byte) for byte in range(codec.coarse_code_size()))


def open_index(folder: Path, documents: int, nprobe: int) -> TokenCodes:
    """The index of a corpus of this size. Raises UserError if it is damaged or of another corpus."""
    import faiss

    try:
        codec = faiss.read_index(str(folder / CODEC))
    except RuntimeError:
        raise UserError(f"{folder}: not a complete index, delete it and build it again") from None
    codes, offsets, listed, ends = read_arrays(folder, ARRAYS, "build")
    check_size(folder, len(offsets) - 1, documents, "build")
    fits = are_offsets(offsets, len(codes), least=1) and len(ends) == codec.nlist and ends[-1] == len(listed)
    check_together(folder, fits, "build")
    faiss.omp_set_num_threads(threads())
    centroids = codec.quantizer.reconstruct_n(0, codec.nlist)
    return TokenCodes(codec, centroids, codes, offsets, listed, ends, min(nprobe, codec.nlist))


class CodesOfTokens(Approximate):
    made_from = token_vectors.NAME

    def check_name(self, name: str) -> None:
        if not re.fullmatch(r"IVF\d+,(?:PQ\d+|SQ8)", name):
            problem = "is none for token vectors; expected centroids and residual codes, IVF4096,PQ32 or IVF4096,SQ8"
            raise Mistake("index", f"{name} {problem}")

    def build(self, folder: Path, source: Path, name: str) -> dict[str, int]:
        vectors, counts = token_vectors.read(source)
        write_index(folder, vectors, counts, name)
        return {"documents": len(counts), "vectors": len(vectors)}


FORM = CodesOfTokens()
