"""A document's score from the scores of all pairs of a passage of the query and a passage of the document.

MaxSim: the score of a document is the sum, over the query's passages, of the maximum over the document's passages. If
neither text was split, it is the score of the one pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch


def max_sim(scores: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The scores of documents for one query.

    `scores` has shape (passages of the query, passages of all documents), with the passages of a document adjacent.
    `counts` (documents,) is their number for each document, at least one. Returns shape (documents,).
    """
    starts = np.cumsum(counts) - counts
    return np.maximum.reduceat(scores, starts, axis=1).sum(axis=0)


def max_sims(scores: torch.Tensor, query_counts: torch.Tensor, document_counts: torch.Tensor) -> torch.Tensor:
    """`max_sim` of many queries at once, on any device.

    `scores` has shape (passages of all queries, passages of all documents), with those of a text adjacent. Returns
    shape (queries, documents).
    """
    import torch

    of_documents = torch.segment_reduce(scores.T.contiguous(), "max", lengths=document_counts, axis=0)
    return torch.segment_reduce(of_documents.T.contiguous(), "sum", lengths=query_counts, axis=0)
