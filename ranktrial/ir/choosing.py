"""Choosing on dev, for all tunings: the mean of each candidate over judged queries, the best one, and what is reported.

The parameters of BM25 and of feedback, the weights of a fusion, the parameters of a ranker, seeds and recipes are all
chosen here. The highest mean wins; of equal ones, the first candidate, so that callers list them in ascending order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import Qrels, Run, relevant

EQUAL = 1e-12  # means nearer than this are equal: sums of the same values in another order
LEAST = 10  # queries; by fewer, a choice may be due to chance
NO_DEV = (
    "{}: no judged dev query to tune on: give the dataset a dev split (splits: {{dev: 0.1}}), or the system {} instead "
    "of tune: true"
)

Candidate = TypeVar("Candidate")


def judged(qrels: Qrels, otherwise: str = "") -> Qrels:
    """The judgements of the queries with a relevant document. Raises UserError (`otherwise`, if given) without any."""
    usable = {query: grades for query, grades in qrels.items() if relevant(qrels, query)}
    if otherwise and not usable:
        raise UserError(otherwise)
    return usable


def mean(run: Run, qrels: Qrels, measure: str) -> float:
    """The mean of a measure over the queries of the qrels."""
    return float(evaluate(run, qrels, [measure])[measure].mean())


def best(candidates: Sequence[Candidate], value: Callable[[Candidate], float]) -> Candidate:
    """The candidate with the highest value, the first of equal ones."""
    highest = max(map(value, candidates))
    return next(one for one in candidates if value(one) >= highest - EQUAL)


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table (TSV) such as that of all candidates; None is an empty cell, floats are written to the last bit."""
    with atomic_text(path) as file:
        file.writelines("\t".join("" if cell is None else str(cell) for cell in row) + "\n" for row in [columns, *rows])


def few_queries(queries: int, split: str = "dev", verb: str = "tuned") -> str | None:
    """A warning about a choice by this many queries of a split; None if they are enough."""
    if queries >= LEAST:
        return None
    counted = f"1 {split} query" if queries == 1 else f"{queries} {split} queries"
    return f"{verb} on {counted}: with fewer than {LEAST}, the choice may be due to chance; use a larger {split} split"


def report(message: str, name: str, queries: int, split: str = "dev", verb: str = "tuned") -> None:
    """Print what was chosen, and a warning that begins with `name` if few queries decided."""
    print(message, file=sys.stderr)
    if caution := few_queries(queries, split, verb):
        print(f"{name}: warning: {caution}", file=sys.stderr)
