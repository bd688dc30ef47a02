"""Another system's score as a feature: a bi-encoder's cosine, a cross-encoder's score, a fusion's. Reads nothing."""

from __future__ import annotations

import numpy as np

from scripts.ir.trec import Run

LOWEST = "lowest"


class SystemScore:
    """The scores of a run, as they stand there.

    A document that the run lacks has the value `missing`: a number, or with `lowest` the lowest score that the run has
    for the query, 0 where it has none. `lacking` counts the pairs to which this happened.
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
    """The lowest score that a run has for a query."""
    return min(scores.values(), default=0.0)
