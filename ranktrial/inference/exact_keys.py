"""The best documents by keys that order scores and ties at once, for a GPU: no step waits for a result.

A key is an int64: its upper half orders the scores (float32) and its lower half the places among ties, so that no two
documents of a query have equal keys and the highest k are well-defined. On a processor, comparing with the lowest score
so far is faster (see exact.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch

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
