"""Which queries belong together: those of one cluster are one observation of a task, not several.

Queries of one corpus that share a relevant document, themselves or over others, are one connected component: tweets on
one article, say. Their values vary together, and so the variance of a mean over them is larger than that of independent
queries, by the design effect (Kish 1965, Survey Sampling, chapters 5 and 8; Cameron and Miller 2015, Journal of Human
Resources 50(2), 317-372),

    sum over clusters u of E_u^2 G / (G - 1)  over  sum over queries j of e_j^2 n / (n - 1),

e_j the influence of a query (see influence.py), E_u its sum over a cluster. Reads and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np


def components(relevant: Mapping[Hashable, Iterable[str]]) -> dict[Hashable, int]:
    """Query -> the number of its connected component; `relevant` are the documents relevant to each."""
    parent: dict[Hashable, Hashable] = {query: query for query in relevant}

    def root(query: Hashable) -> Hashable:
        while parent[query] != query:
            parent[query] = parent[parent[query]]
            query = parent[query]
        return query

    first_with: dict[str, Hashable] = {}
    for query, documents in relevant.items():
        for document in documents:
            parent[root(query)] = root(first_with.setdefault(document, query))
    numbers: dict[Hashable, int] = {}
    return {query: numbers.setdefault(root(query), len(numbers)) for query in relevant}


def effective_number(units: Sequence[Hashable]) -> float:
    """How many clusters of equal size would tell as much: n^2 / sum of n_u^2, n_u the queries of each (Kish 1965)."""
    return float(len(units) ** 2 / sum(size**2 for size in Counter(units).values())) if units else 0.0


def sums(values: np.ndarray, units: Sequence[Hashable]) -> dict[Hashable, float]:
    """The sum of `values` over the queries of each unit, in the order in which units first come."""
    totals: dict[Hashable, float] = {}
    for value, unit in zip(values.tolist(), units, strict=True):
        totals[unit] = totals.get(unit, 0.0) + value
    return totals


def design_effect(influence: np.ndarray, units: Sequence[Hashable]) -> float | None:
    """The variance with clusters over that without; 1 where each query is its own, None for a single cluster."""
    totals = np.array(list(sums(influence, units).values()))
    clusters, n = len(totals), len(influence)
    if clusters == n:
        return 1.0
    if clusters < 2:
        return None
    independent = float((influence**2).sum()) * n / (n - 1)
    return float((totals**2).sum()) * clusters / (clusters - 1) / independent if independent else 1.0
