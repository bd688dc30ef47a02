"""Search token vectors in residual codes (see indices/token_codes.py): MaxSim of centroids, then of decoded vectors.

A shard is a part of the queries.
"""

from __future__ import annotations

import numpy as np

from ranktrial.inference.indices import token_vectors
from ranktrial.inference.indices.token_codes import TokenCodes, centroids_of, open_index
from ranktrial.inference.searches.approximate import Found, rank
from ranktrial.inference.searching import Request
from ranktrial.inference.vectors import check_dimensions, max_sim
from ranktrial.models.running import device

AT_A_TIME = 512  # documents decoded at a time
AGAIN = 4  # times the requested number of documents are scored by decoded vectors


def search(asked: Request) -> None:
    """Write the run and the timing of a search, with its recall."""
    from ranktrial.inference import exact

    documents = len(asked.documents)
    index = open_index(asked.index, documents, asked.derived.nprobe or 1)
    whole = token_vectors.open_index(asked.vectors, documents, asked.checkpoint)

    def found(encoded: list[np.ndarray]) -> Found:
        return nearest(index, encoded, asked.places, asked.fetched)

    def exactly(encoded: list[np.ndarray]) -> Found:
        split = (np.array([len(rows) for rows in encoded]), whole.counts)
        return exact.search(np.concatenate(encoded), whole.vectors, asked.places, asked.fetched, device(), split)

    rank(asked, found, exactly)


def nearest(index: TokenCodes, queries: list[np.ndarray], places: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The results for queries, each of shape (tokens, dimensions), as from approximate.nearest."""
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
    scores = max_sim(near[:, centroids_of(codes, index.codec)], counts)
    return documents[np.sort(np.argpartition(-scores, most - 1)[:most])]


def decoded_max_sims(index: TokenCodes, query: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """MaxSim of a query and each of several documents by decoded vectors, in batches of documents."""
    scores = [np.empty(0, np.float32)]
    for first in range(0, len(documents), AT_A_TIME):
        codes, counts = index.tokens(documents[first : first + AT_A_TIME])
        scores.append(max_sim(query @ index.codec.sa_decode(np.ascontiguousarray(codes)).T, counts))
    return np.concatenate(scores)
