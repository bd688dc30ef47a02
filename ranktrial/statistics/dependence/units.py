"""Clusters of queries, which are not independent observations of a task.

Queries of one corpus that share a relevant document, directly or indirectly, are one connected component, such as
tweets on one article. Their values are correlated, so the variance of a mean over them is larger than that of
independent queries, by the design effect (Kish 1965, Survey Sampling, chapters 5 and 8),

    sum over clusters u of E_u^2 / (1 - n_u / n)  over  sum over queries j of e_j^2 n / (n - 1),

e_j the influence of a query (see influence.py), E_u its sum over the n_u queries of a cluster: the variance CR2 of Bell
and McCaffrey (2002), which is unbiased if queries are in fact independent. Its degrees of freedom are also theirs,

    n^2 / (sum n_u^2 + sum over u and v != u of b_u b_v),    b_u = n_u^2 / (n (1 - n_u / n)):

G - 1 for G clusters of equal size, fewer if some are large. Reads and writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Clustered(NamedTuple):
    """The ratio of a variance with clusters to that without, and its degrees of freedom."""

    design_effect: float
    df: float


def components(relevant: Mapping[Hashable, Iterable[str]]) -> dict[Hashable, int]:
    """Query -> the number of its connected component; `relevant` are the documents relevant to each."""
    parent = list(range(len(relevant)))  # by the position of a query: keys with many documents are slow to look up

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first_with: dict[str, int] = {}
    for place, documents in enumerate(relevant.values()):
        for document in documents:
            parent[root(place)] = root(first_with.setdefault(document, place))
    numbers: dict[int, int] = {}
    return {query: numbers.setdefault(root(place), len(numbers)) for place, query in enumerate(relevant)}


def effective_number(units: Sequence[Hashable]) -> float:
    """The effective number of clusters, of equal size: n^2 / sum of n_u^2, n_u the queries of each (Kish 1965)."""
    return float(len(units) ** 2 / sum(size**2 for size in Counter(units).values())) if units else 0.0


def sums(values: np.ndarray, units: Sequence[Hashable]) -> dict[Hashable, float]:
    """The sum of `values` over the queries of each unit, in the order of first occurrence."""
    totals: dict[Hashable, float] = {}
    for value, unit in zip(values.tolist(), units, strict=True):
        totals[unit] = totals.get(unit, 0.0) + value
    return totals


def numbered(units: Sequence[Hashable]) -> np.ndarray:
    """The units numbered 0, 1, ... in the order of first occurrence."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=int)


def clustered(influence: np.ndarray, units: np.ndarray) -> Clustered | None:
    """The effect of clusters, numbered from 0, on the variance of an effect; None for a single cluster."""
    n = len(influence)
    sizes = np.bincount(units)
    if len(sizes) == n:
        return Clustered(1.0, n - 1)
    if len(sizes) < 2:
        return None
    between = sizes**2 / (1 - sizes / n) / n
    df = n**2 / ((sizes**2).sum() + between.sum() ** 2 - (between**2).sum())
    return Clustered(float(design_effects(influence[None], units[None])[0]), float(df))


def design_effects(influence: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The design effect of each row of (rows, n), whose units are numbered from 0, equally many in each row.

    There must be at least two units; a row of zeros has 1.
    """
    rows, n = influence.shape
    count = int(units.max()) + 1
    labels = (units + count * np.arange(rows)[:, None]).ravel()
    totals = np.bincount(labels, influence.ravel(), minlength=rows * count).reshape(rows, count)
    sizes = np.bincount(labels, minlength=rows * count).reshape(rows, count)
    independent = (influence**2).sum(axis=1) * n / (n - 1)
    clustered = (totals**2 / (1 - sizes / n)).sum(axis=1)
    factors: np.ndarray = np.divide(clustered, independent, out=np.ones(rows), where=independent > 0)
    return factors
