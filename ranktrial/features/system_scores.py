"""Another system's score as a feature, such as a bi-encoder's cosine or the score of a cross-encoder or a fusion.

Reads no files.
"""

from __future__ import annotations

import numpy as np

from ranktrial.ir.trec import Run

LOWEST = "lowest"


class SystemScore:
    """The scores of a run, unchanged.

    A document missing from the run gets the value `missing`: a number or, with `lowest`, the lowest score in the run
    for the query (0 if the query has none). `lacking` counts the pairs that were missing.
    """

    def __init__(self, run: Run, missing: float | str) -> None:
        self.run, self.lacking = run, 0
        self.missing = {query: lowest_of(scores) for query, scores in run.items()} if missing == LOWEST else {}
        self.otherwise = 0.0 if missing == LOWEST else float(missing)

    def values(self, queries: list[str], documents: list[str]) -> np.ndarray:
        """The score of each pair."""
        found = [self.run.get(query, {}).get(document) for query, document in zip(queries, documents, strict=True)]
        self.lacking += found.count(None)
        return np.array(
            [
                self.missing.get(query, self.otherwise) if score is None else score
                for query, score in zip(queries, found, strict=True)
            ]
        )


def lowest_of(scores: dict[str, float]) -> float:
    """The lowest score of a run for a query."""
    return min(scores.values(), default=0.0)
