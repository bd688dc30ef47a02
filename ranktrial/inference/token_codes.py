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

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.errors import UserError
from ranktrial.common.progress import Progress
from ranktrial.common.threads import threads
from ranktrial.inference.approximate import ROWS, trained
from ranktrial.inference.vectors import check_dimensions

CODEC, CODES, OFFSETS, DOCUMENTS, ENDS = "codec.faiss", "codes.npy", "offsets.npy", "documents.npy", "ends.npy"
AT_A_TIME = 512  # documents decoded at a time
AGAIN = 4  # times the requested number of documents are scored by decoded vectors


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
    codes = np.lib.format.open_memmap(folder / CODES, mode="w+", dtype=np.uint8, shape=shape)
    progress = Progress("coded", len(vectors), "token")
    for first in range(0, len(vectors), ROWS):
        rows = np.ascontiguousarray(vectors[first : first + ROWS], dtype=np.float32)
        codes[first : first + ROWS] = codec.sa_encode(rows)
        progress.add(len(rows))
    codes.flush()
    of_tokens = np.repeat(np.arange(len(counts)), counts)
    pairs = np.unique(centroids_of(codes, codec) * len(counts) + of_tokens)
    faiss.write_index(codec, str(folder / CODEC))
    np.save(folder / OFFSETS, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
    np.save(folder / DOCUMENTS, (pairs % len(counts)).astype(np.int32))
    np.save(folder / ENDS, np.cumsum(np.bincount(pairs // len(counts), minlength=codec.nlist)))


def centroids_of(codes: np.ndarray, codec: Any) -> np.ndarray:
    """The number of the centroid at the start of each code."""
    return sum(codes[:, byte].astype(np.int64) << (8 * byte) for byte in range(codec.coarse_code_size()))


def open_index(folder: Path, documents: int, nprobe: int) -> TokenCodes:
    """The index of a corpus of this size. Raises UserError if it is damaged or of another corpus."""
    import faiss

    try:
        codec = faiss.read_index(str(folder / CODEC))
        codes = np.load(folder / CODES, mmap_mode="r", allow_pickle=False)
        offsets, listed, ends = (np.load(folder / name, allow_pickle=False) for name in (OFFSETS, DOCUMENTS, ENDS))
    except (RuntimeError, OSError, ValueError, EOFError):
        raise UserError(f"{folder}: not a complete index of token codes, delete it and build it again") from None
    if len(offsets) - 1 != documents:
        raise UserError(f"{folder}: of {len(offsets) - 1} documents, but the corpus has {documents}; build it again")
    if offsets[-1] != len(codes) or len(ends) != codec.nlist or ends[-1] != len(listed):
        raise UserError(f"{folder}: its files do not belong together, delete it and build it again")
    faiss.omp_set_num_threads(threads())
    centroids = codec.quantizer.reconstruct_n(0, codec.nlist)
    return TokenCodes(codec, centroids, codes, offsets, listed, ends, min(nprobe, codec.nlist))


def search(index: TokenCodes, queries: list[np.ndarray], places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The results for queries, each of shape (tokens, dimensions), as from approximate.search."""
    k = min(k, len(index.offsets) - 1)
    scores, rows = np.full((len(queries), k), -np.inf, np.float32), np.zeros((len(queries), k), np.int64)
    for number, query in enumerate(queries):
        check_dimensions(query.shape[1], index.centroids.shape[1])
        documents = candidates(index, query, AGAIN * k)
        found = decoded_max_sims(index, query, documents)
        best = np.lexsort((places[documents], -found))[:k]
        scores[number, : len(best)], rows[number, : len(best)] = found[best], documents[best]
    return scores, rows


def candidates(index: TokenCodes, query: np.ndarray, most: int) -> np.ndarray:
    """The at most `most` documents with the highest MaxSim of centroids for a query."""
    near = query @ index.centroids.T
    probed = np.unique(np.argpartition(-near, index.nprobe - 1, axis=1)[:, : index.nprobe])
    documents = index.of_centroids(probed)
    if len(documents) <= most:
        return documents
    codes, counts = index.tokens(documents)
    scores = max_sims(near[:, centroids_of(codes, index.codec)], counts)
    return documents[np.sort(np.argpartition(-scores, most - 1)[:most])]


def decoded_max_sims(index: TokenCodes, query: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """MaxSim of a query and each of several documents by decoded vectors, in batches of documents."""
    scores = [np.empty(0, np.float32)]
    for first in range(0, len(documents), AT_A_TIME):
        codes, counts = index.tokens(documents[first : first + AT_A_TIME])
        scores.append(max_sims(query @ index.codec.sa_decode(np.ascontiguousarray(codes)).T, counts))
    return np.concatenate(scores)


def max_sims(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """MaxSim from scores of shape (query tokens, tokens), for documents with `counts` tokens each."""
    return np.maximum.reduceat(scores, np.cumsum(counts) - counts, axis=1).sum(axis=0)
