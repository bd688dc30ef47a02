"""Exact search: the documents with the highest dot products, chunk by chunk, so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

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


Scoring = tuple[slice, Callable[[slice], torch.Tensor]]  # a block of documents, and what scores queries with them


def merged(scorings: Iterable[Scoring], queries: Sequence[slice], places: torch.Tensor, k: int):
    """The k documents with the highest score for each query, of documents that come block by block.

    A scoring's function gives, for one of the blocks `queries`, scores of shape (its queries, the documents of its
    block), on the device of `places` (n,), which are as of `precedence`. Returns the scores (float32) and the numbers
    of the documents, both of shape (all queries, min(k, n)), by descending score and, of equal scores, by place.
    """
    count = queries[-1].stop
    scores = torch.empty((count, 0), dtype=torch.float32, device=places.device)
    rows = torch.empty((count, 0), dtype=torch.int64, device=places.device)
    for document_rows, score in scorings:
        kept_scores, kept_rows = [], []
        for query_rows in queries:
            new = score(query_rows)
            new_columns = best(new, places[document_rows].expand_as(new), k)
            all_scores = torch.cat([scores[query_rows], new.gather(1, new_columns)], dim=1)
            all_rows = torch.cat([rows[query_rows], document_rows.start + new_columns], dim=1)
            columns = best(all_scores, places[all_rows], k)
            kept_scores.append(all_scores.gather(1, columns))
            kept_rows.append(all_rows.gather(1, columns))
        scores, rows = torch.cat(kept_scores), torch.cat(kept_rows)
    by_place = places[rows].argsort(dim=1)
    scores, rows = scores.gather(1, by_place), rows.gather(1, by_place)
    by_score = scores.argsort(dim=1, descending=True, stable=True)
    return scores.gather(1, by_score).cpu().numpy(), rows.gather(1, by_score).cpu().numpy()


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
    vectors_of = {query_rows.start: query_vectors for query_rows, query_vectors in blocks(of_query, QUERIES)}

    def scorings() -> Iterator[Scoring]:
        for document_rows, document_vectors in blocks(of_document, DOCUMENTS):
            chunk = torch.from_numpy(np.array(documents[document_vectors])).to(device)
            document_counts = torch.from_numpy(of_document[document_rows]).to(device)

            def score(query_rows: slice, chunk=chunk, document_counts=document_counts) -> torch.Tensor:
                products = vectors[vectors_of[query_rows.start]] @ chunk.T
                if whole:
                    return products
                query_counts = torch.from_numpy(of_query[query_rows]).to(device)
                return max_sims(products, query_counts, document_counts)

            yield document_rows, score

    query_blocks = [query_rows for query_rows, _ in blocks(of_query, QUERIES)]
    return merged(scorings(), query_blocks, torch.from_numpy(places).to(device), k)
