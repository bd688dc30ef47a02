"""Fusion of runs: reciprocal rank fusion, and sums of normalised scores.

A query's documents are the union of all runs; a document that a run lacks gets nothing from it. Ranks are trec_eval's
(see trec.ranking). The definitions are those of ranx 0.3, with which the tests compare them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ranktrial.ir.trec import Run, ranking, top

SMALLEST_SPREAD = 1e-9  # equal scores have no spread to divide by: all become 0
MOST_TRIALS = 10_000  # weightings that are tried
Scores = dict[str, float]


def min_max(scores: Scores) -> Scores:
    """Scores scaled to 0 for the query's lowest and 1 for its highest; all 0 if they are equal."""
    lowest, highest = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    spread = max(highest - lowest, SMALLEST_SPREAD)
    return {document: (score - lowest) / spread for document, score in scores.items()}


def z_score(scores: Scores) -> Scores:
    """Scores with mean 0 and standard deviation 1 over the query's documents; all 0 if they are equal."""
    if not scores:
        return {}
    values = np.array(list(scores.values()))
    spread = max(float(values.std()), SMALLEST_SPREAD)
    mean = float(values.mean())
    return {document: (score - mean) / spread for document, score in scores.items()}


def by_rank(scores: Scores) -> Scores:
    """For n documents, 1 for the first, 1 - 1/n for the second, and so on."""
    return {document: 1 - place / len(scores) for place, document in enumerate(ranking(scores))}


NORMALISATIONS: dict[str, Callable[[Scores], Scores]] = {"min-max": min_max, "z-score": z_score, "rank": by_rank}


def normalised(run: Run, how: str) -> Run:
    """The run with the scores of each query normalised; `how` is one of NORMALISATIONS."""
    return {query: NORMALISATIONS[how](scores) for query, scores in run.items()}


def reciprocal_ranks(scores: Scores, k: float) -> Scores:
    """1 / (k + rank) for each document: Cormack, Clarke and Büttcher (2009), SIGIR."""
    return {document: 1 / (k + rank) for rank, document in enumerate(ranking(scores), 1)}


def weighted_sum(lists: list[Scores], weights: list[float]) -> Scores:
    """The sum of a document's scores, each times its list's weight."""
    fused: Scores = {}
    for scores, weight in zip(lists, weights, strict=True):
        for document, score in scores.items():
            fused[document] = fused.get(document, 0.0) + weight * score
    return fused


def comb_sum(lists: list[Scores]) -> Scores:
    """The sum of a document's scores: Fox and Shaw (1994), TREC-2."""
    return weighted_sum(lists, [1.0] * len(lists))


def comb_mnz(lists: list[Scores]) -> Scores:
    """The sum of a document's scores times the number of lists that contain it: Fox and Shaw (1994), TREC-2."""
    return {doc: score * sum(doc in scores for scores in lists) for doc, score in comb_sum(lists).items()}


def fused(runs: list[Run], fuse: Callable[[list[Scores]], Scores], depth: int) -> Run:
    """The first `depth` documents of each query that is in any run, fused from all runs."""
    queries = dict.fromkeys(query for run in runs for query in run)
    return {query: top(fuse([run.get(query, {}) for run in runs]), depth) for query in queries}


def weightings(steps: int, systems: int) -> Iterator[tuple[float, ...]]:
    """All weights of `systems` systems that are multiples of 1/steps and sum to 1, in ascending order."""

    def shares(left: int, places: int) -> Iterator[tuple[int, ...]]:
        if places == 1:
            yield (left,)
            return
        for share in range(left + 1):
            yield from ((share, *others) for others in shares(left - share, places - 1))

    return (tuple(share / steps for share in split) for split in shares(steps, systems))


def trials(steps: int, systems: int) -> int:
    """The number of weightings."""
    return math.comb(steps + systems - 1, systems - 1)
