"""Search with a model of term weights, such as SPLADE: the documents with the highest dot product.

The timing has FLOPS: the mean number of products for scoring a document (Paria et al. 2020). The search is exact and
reads the index in parts, so memory does not grow with it. A document without a common term is not found, and a query
without terms finds none. Ties are kept and ranked as in trec_eval: by descending id.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse

from ranktrial.common.errors import UserError
from ranktrial.inference.indices.terms import TermIndex, open_index
from ranktrial.inference.searching import Request, answer
from ranktrial.inference.shards import part

QUERIES = 64  # scored at a time


def highest(
    queries: scipy.sparse.csr_array, index: TermIndex, places: np.ndarray, k: int, shard: list[int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k documents with the highest dot product for each query, as in exact.search; a score of 0: no common term.

    `queries` has shape (q, terms). Ties are ordered by place.
    """
    import torch

    from ranktrial.inference.exact import Scoring, merged

    def scorings() -> Iterator[Scoring]:
        for documents in part(list(index.blocks()), shard):
            by_term = index.rows(documents).T.tocsr()

            def score(rows: slice, by_term: Any = by_term) -> torch.Tensor:
                return torch.from_numpy((queries[rows] @ by_term).toarray())

            yield documents, score

    count = queries.shape[0]
    blocks = [slice(start, min(start + QUERIES, count)) for start in range(0, count, QUERIES)]
    return merged(scorings(), blocks, torch.from_numpy(places), k)


def flops(queries: scipy.sparse.csr_array, index: TermIndex) -> float:
    """The sum over terms of the share of queries times the share of documents with a weight for it."""
    of_queries = np.bincount(queries.indices, minlength=index.size) / queries.shape[0]
    return float(of_queries @ (index.frequencies() / index.documents))


def search(asked: Request) -> None:
    """Write the run and the timing of a search. Raises UserError if no query has a term."""
    index = open_index(asked.index, len(asked.documents), asked.checkpoint)
    encoded = asked.encode([text for (text,) in asked.queries.values()])
    terms = np.diff(encoded.indptr)
    if not terms.any():
        raise UserError(f"{asked.checkpoint}: the model gives no query of {asked.source} a term")
    if without := int((terms == 0).sum()):
        print(f"{without} of {len(asked.queries)} queries have no term, so they find nothing", file=sys.stderr)

    def find(texts: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
        rows = asked.encode([text for (text,) in texts])
        scores, found = highest(rows, index, asked.places, asked.fetched, asked.settings.shard)
        return np.where(scores > 0, scores, -np.inf), found

    counts = {"terms_per_query": float(terms.mean()), "queries_without_terms": without}
    answer(asked, find, **counts, flops=flops(encoded, index))
