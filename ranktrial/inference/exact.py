"""Exact search: the documents with the highest dot products, chunk by chunk, in constant memory.

On a GPU, the best documents are found by keys that order scores and ties at once, so that no step waits for a result. A
key is an int64: its upper half orders the scores (float32) and its lower half the places among ties, so that no two
documents of a query have equal keys and the highest k are well-defined. On a processor, comparing with the lowest score
so far is faster.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ranktrial.inference.shards import part
from ranktrial.inference.vectors import check_dimensions, max_sims
from ranktrial.models.processor import multiplier
from ranktrial.models.truncation import Rows

# A block of documents, and a function that scores queries with them.
Scoring = tuple[slice, Callable[[slice], torch.Tensor]]
LOW = (1 << 32) - 1  # the lower half of a key; the smallest place has the highest


def keys_of(scores: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """The keys (int64) of scores, float32 of shape (queries, documents), of documents with `places` (documents,)."""
    bits = (scores + 0.0).view(torch.int32)  # minus 0 becomes 0, which it equals
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # negative numbers: the larger the rest of the bits, the lower
    return (ordered.long() << 32) | (LOW - places)


def scores_of(keys: torch.Tensor) -> torch.Tensor:
    """The scores (float32) in keys, of the same shape."""
    ordered = (keys >> 32).to(torch.int32)
    return (ordered ^ ((ordered >> 31) & 0x7FFFFFFF)).view(torch.float32)


def merged_by_keys(scorings: Iterable[Scoring], queries: Sequence[slice], places: torch.Tensor, k: int):
    """As exact.merged: scores (float32) and numbers of documents, both of shape (all queries, min(k, n))."""
    found: list[torch.Tensor | None] = [None] * len(queries)
    for document_rows, score in scorings:
        for number, query_rows in enumerate(queries):
            new = _highest(keys_of(score(query_rows), places[document_rows]), k)
            before = found[number]
            found[number] = new if before is None else _highest(torch.cat([before, new], dim=1), k)
    rows_at = torch.empty_like(places)
    rows_at[places] = torch.arange(len(places), device=places.device)
    counts = [part.stop - part.start for part in queries]
    empty = [places.new_empty((count, 0)) for count in counts]
    keys = torch.cat([one if one is not None else none for one, none in zip(found, empty, strict=True)])
    keys = keys.sort(dim=1, descending=True).values
    return scores_of(keys).cpu().numpy(), rows_at[LOW - (keys & LOW)].cpu().numpy().astype(np.int64)


def _highest(keys: torch.Tensor, k: int) -> torch.Tensor:
    """The k highest keys of each row, in no order; all if there are fewer."""
    return keys.topk(min(k, keys.shape[1]), dim=1, sorted=False).values


DOCUMENTS = 16384  # vectors scored at a time
QUERIES = 1024  # vectors scored at a time
ON_GPU = 4  # blocks of documents scored at a time there, which saves launches
GROUP = 32  # documents whose maximum score is compared before single scores


def precedence(ids: list[str]) -> np.ndarray:
    """The place of each document among ties, in trec_eval's order: ids descending (bytes), from 0. Shape (ids,)."""
    places = np.empty(len(ids), dtype=np.int64)
    places[sorted(range(len(ids)), key=lambda row: ids[row].encode(), reverse=True)] = np.arange(len(ids))
    return places


def best(scores: torch.Tensor, places: torch.Tensor, k: int) -> torch.Tensor:
    """The columns of the k highest scores in each row (all columns if there are fewer), in no order.

    Among columns tied with the last one kept, those with the smallest place are kept. `scores` and `places`
    have shape (rows, columns); returns shape (rows, min(k, columns)).
    """
    k = min(k, scores.shape[1])
    values, columns = scores.topk(k, dim=1, sorted=False)
    if not k:  # a shard without documents
        return columns
    last = values.min(dim=1, keepdim=True).values
    crowded = (scores >= last).sum(dim=1) > k
    for row in crowded.nonzero().flatten().tolist():
        above = (scores[row] > last[row]).nonzero().flatten()
        equal = (scores[row] == last[row]).nonzero().flatten()
        equal = equal[places[row, equal].argsort()]
        columns[row] = torch.cat([above, equal])[:k]
    return columns


def blocks(counts: np.ndarray, most: int) -> Iterator[tuple[slice, slice]]:
    """Blocks of texts with `counts` (texts,) vectors each: at most `most` vectors per block (or one text with more).

    Yields the slice of the texts and that of their vectors.
    """
    ends = np.cumsum(counts)
    first = row = 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, row + most, side="right")))
        yield slice(first, last), slice(row, int(ends[last - 1]))
        first, row = last, int(ends[last - 1])


def _at_least(scores: torch.Tensor, least: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows, columns and values, in their order, of the scores (rows, columns) that reach the least of their row.

    Almost none do, so the maximum of each group of columns is compared first. The remaining ones are fetched by flat
    indices: by row and column it takes twice as long.
    """
    if scores.shape[1] % GROUP:
        rows, columns = (scores >= least[:, None]).nonzero(as_tuple=True)
        return rows, columns, scores[rows, columns]
    groups = scores.unflatten(1, (-1, GROUP))
    found = (groups.amax(dim=2) >= least[:, None]).flatten().nonzero().squeeze(1)
    rows = found // groups.shape[1]
    near = groups.flatten(0, 1).index_select(0, found)
    kept = (near >= least.index_select(0, rows)[:, None]).flatten().nonzero().squeeze(1)
    group = kept // GROUP
    rows = rows.index_select(0, group)
    columns = found.index_select(0, group) * GROUP + kept % GROUP - rows * scores.shape[1]
    return rows, columns, near.flatten().index_select(0, kept)


def passing(new: torch.Tensor, places: torch.Tensor, k: int, least: torch.Tensor | None):
    """The new scores, of shape (queries, documents), that may be among the k best, and their columns.

    `least` (queries,) is the lowest of the k scores that each query already has, if it has k: lower scores are dropped,
    which saves most of the work, while a tied one may precede by its place. Rows are padded with minus infinity. Both
    have shape (queries, at most k).
    """
    if least is not None:
        rows, columns, values = _at_least(new, least)
        counts = rows.bincount(minlength=len(new))
        most = int(counts.max())
        if most <= k:
            nth = torch.arange(len(rows), device=new.device) - (counts.cumsum(0) - counts)[rows]
            scores = new.new_full((len(new), most), -torch.inf)
            kept = columns.new_zeros((len(new), most))
            scores[rows, nth], kept[rows, nth] = values, columns
            return scores, kept
    kept = best(new, places.expand_as(new), k)
    return new.gather(1, kept), kept


class Best(NamedTuple):
    """The best documents of queries so far, k or more: scores and rows, both of shape (queries, documents)."""

    scores: torch.Tensor
    rows: torch.Tensor
    least: torch.Tensor | None = None  # as in `passing`

    @classmethod
    def empty(cls, queries: int, places: torch.Tensor) -> Best:
        """The start, without documents."""
        return cls(torch.empty((queries, 0), device=places.device), places.new_empty((queries, 0)))

    def with_more(self, scores: torch.Tensor, rows: torch.Tensor, places: torch.Tensor, k: int) -> Best:
        """Add documents; cut to k only when there are twice as many, since cutting is slower than adding."""
        more = Best(torch.cat([self.scores, scores], dim=1), torch.cat([self.rows, rows], dim=1), self.least)
        full = more.scores.shape[1] >= (k if self.least is None else 2 * k)
        return more.cut(places, k) if full else more

    def cut(self, places: torch.Tensor, k: int) -> Best:
        """Keep only the k best."""
        columns = best(self.scores, places[self.rows], k)
        scores = self.scores.gather(1, columns)
        return Best(scores, self.rows.gather(1, columns), scores.min(dim=1).values if scores.shape[1] == k else None)


def merged(scorings: Iterable[Scoring], queries: Sequence[slice], places: torch.Tensor, k: int):
    """The k documents with the highest score for each query, from blocks of documents.

    A scoring's function returns, for one of the blocks `queries`, scores of shape (its queries, the documents of its
    block), on the device of `places` (n,), as from `precedence`. Returns the scores (float32) and the numbers of the
    documents, both of shape (all queries, min(k, n)), in descending order of scores, ties by place.
    """
    if not queries:  # a shard without queries
        return np.empty((0, min(k, len(places))), np.float32), np.empty((0, min(k, len(places))), np.int64)
    if places.device.type == "cuda":
        return merged_by_keys(scorings, queries, places, k)
    found = [Best.empty(part.stop - part.start, places) for part in queries]
    for document_rows, score in scorings:
        for number, query_rows in enumerate(queries):
            scores, columns = passing(score(query_rows), places[document_rows], k, found[number].least)
            found[number] = found[number].with_more(scores, document_rows.start + columns, places, k)
    kept = [one.cut(places, k) for one in found]
    scores, rows = torch.cat([one.scores for one in kept]), torch.cat([one.rows for one in kept])
    by_place = places[rows].argsort(dim=1)
    scores, rows = scores.gather(1, by_place), rows.gather(1, by_place)
    by_score = scores.argsort(dim=1, descending=True, stable=True)
    return scores.gather(1, by_score).cpu().numpy(), rows.gather(1, by_score).cpu().numpy()


def mapped(rows: np.ndarray, device: str = "cpu") -> torch.Tensor:
    """The rows of a read-only file as a tensor; for a processor without a copy, to a GPU without waiting for it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        found = torch.from_numpy(np.ascontiguousarray(rows))
    return found if device == "cpu" else found.pin_memory().to(device, non_blocking=True)


def larger(units: Sequence[tuple[slice, slice]], many: int) -> list[tuple[slice, slice]]:
    """Blocks joined, `many` consecutive ones at a time."""
    joined = [units[first : first + many] for first in range(0, len(units), many)]
    return [(slice(one[0][0].start, one[-1][0].stop), slice(one[0][1].start, one[-1][1].stop)) for one in joined]


def search(
    queries: np.ndarray,
    documents: Rows,
    places: np.ndarray,
    k: int,
    device: str,
    split: tuple[np.ndarray, np.ndarray] | None = None,
    shard: list[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k documents with the highest score for each query: the dot product, or MaxSim for split texts.

    `queries` has shape (q, dimensions), `documents` (n, dimensions; a memory map is possible), `places` (n,) as from
    `precedence`. If texts were split, these have one row per passage, and `split` has the number of passages of each
    query and each document (two arrays), while q, n and places count whole texts. With a `shard` (see shards.py), only
    the documents of its blocks are compared; any of the k best of all is among its k best. Returns the scores (float32)
    and the numbers of the documents, both of shape (q, min(k, n)), in descending order of scores, ties by place.
    """
    check_dimensions(queries.shape[1], documents.shape[1])
    of_query, of_document = split or (np.ones(len(queries), np.int64), np.ones(len(documents), np.int64))
    whole = (of_query == 1).all() and (of_document == 1).all()
    vectors = torch.from_numpy(queries).to(device)
    vectors_of = {query_rows.start: query_vectors for query_rows, query_vectors in blocks(of_query, QUERIES)}

    def scorings() -> Iterator[Scoring]:
        units = part(list(blocks(of_document, DOCUMENTS)), shard)
        for document_rows, document_vectors in larger(units, 1 if device == "cpu" else ON_GPU):
            multiply = multiplier(mapped(documents[document_vectors], device), len(vectors))
            document_counts = torch.from_numpy(of_document[document_rows]).to(device)

            def score(query_rows: slice, multiply=multiply, document_counts=document_counts) -> torch.Tensor:
                scores = multiply(vectors[vectors_of[query_rows.start]])
                if whole:
                    return scores
                query_counts = torch.from_numpy(of_query[query_rows]).to(device)
                return max_sims(scores, query_counts, document_counts)

            yield document_rows, score

    query_blocks = [query_rows for query_rows, _ in blocks(of_query, QUERIES)]
    return merged(scorings(), query_blocks, torch.from_numpy(places).to(device), k)
