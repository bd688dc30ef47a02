"""Exact search: the documents with the highest dot products, chunk by chunk, so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from scripts.inference.aggregate import max_sims

DOCUMENTS = 32768  # vectors scored at a time
QUERIES = 256  # vectors scored at a time


def precedence(ids: list[str]) -> np.ndarray:
    """The place of each document among equals, in trec_eval's order: ids descending (bytes), from 0. Shape (ids,)."""
    places = np.empty(len(ids), dtype=np.int64)
    places[sorted(range(len(ids)), key=lambda row: ids[row].encode(), reverse=True)] = np.arange(len(ids))
    return places


def best(scores: torch.Tensor, places: torch.Tensor, k: int) -> torch.Tensor:
    """The columns of the k highest scores in each row (all columns if there are fewer), in no order.

    Of columns with the same score as the last one kept, those with the smallest place are kept. `scores` and `places`
    have shape (rows, columns); returns shape (rows, min(k, columns)).
    """
    k = min(k, scores.shape[1])
    values, columns = scores.topk(k, dim=1)
    last = values[:, -1:]
    crowded = (scores >= last).sum(dim=1) > k
    for row in crowded.nonzero().flatten().tolist():
        above = (scores[row] > last[row]).nonzero().flatten()
        equal = (scores[row] == last[row]).nonzero().flatten()
        equal = equal[places[row, equal].argsort()]
        columns[row] = torch.cat([above, equal])[:k]
    return columns


def blocks(counts: np.ndarray, most: int) -> Iterator[tuple[slice, slice]]:
    """Texts, with `counts` (texts,) vectors each, in blocks of at most `most` vectors (or of one text that has more).

    Yields the slice of the texts and that of their vectors.
    """
    ends = np.cumsum(counts)
    first = row = 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, row + most, side="right")))
        yield slice(first, last), slice(row, int(ends[last - 1]))
        first, row = last, int(ends[last - 1])


def search(queries: np.ndarray, documents: np.ndarray, places: np.ndarray, k: int, device: str, split=None):
    """The k documents with the highest score for each query: the dot product, or for split texts its maxima's sum.

    `queries` has shape (q, dimensions), `documents` (n, dimensions; a memory map will do), `places` (n,) as of
    `precedence`. Where texts were split, these have a row a passage, and `split` says how many each query and each
    document has (two arrays), while q, n and places count whole texts. Returns the scores (float32) and the numbers of
    the documents, both of shape (q, min(k, n)), in order of descending score and, of equal scores, of place.
    """
    of_query, of_document = split or (np.ones(len(queries), np.int64), np.ones(len(documents), np.int64))
    whole = (of_query == 1).all() and (of_document == 1).all()
    vectors = torch.from_numpy(queries).to(device)
    scores = torch.empty((len(of_query), 0), dtype=torch.float32, device=device)
    rows = torch.empty((len(of_query), 0), dtype=torch.int64, device=device)
    places_of = torch.from_numpy(places).to(device)
    for document_rows, document_vectors in blocks(of_document, DOCUMENTS):
        chunk = torch.from_numpy(np.array(documents[document_vectors])).to(device)
        kept_scores, kept_rows = [], []
        for query_rows, query_vectors in blocks(of_query, QUERIES):
            new = vectors[query_vectors] @ chunk.T
            if not whole:
                query_counts = torch.from_numpy(of_query[query_rows]).to(device)
                document_counts = torch.from_numpy(of_document[document_rows]).to(device)
                new = max_sims(new, query_counts, document_counts)
            new_columns = best(new, places_of[document_rows].expand_as(new), k)
            all_scores = torch.cat([scores[query_rows], new.gather(1, new_columns)], dim=1)
            all_rows = torch.cat([rows[query_rows], document_rows.start + new_columns], dim=1)
            columns = best(all_scores, places_of[all_rows], k)
            kept_scores.append(all_scores.gather(1, columns))
            kept_rows.append(all_rows.gather(1, columns))
        scores, rows = torch.cat(kept_scores), torch.cat(kept_rows)
    by_place = places_of[rows].argsort(dim=1)
    scores, rows = scores.gather(1, by_place), rows.gather(1, by_place)
    by_score = scores.argsort(dim=1, descending=True, stable=True)
    return scores.gather(1, by_score).cpu().numpy(), rows.gather(1, by_score).cpu().numpy()
