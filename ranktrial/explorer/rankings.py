"""The first documents of all runs of a task, with their documents numbered once; reads runs, writes nothing.

Documents have two numbers: in the order in which runs contain them, and in that in which queries first show them
(`Numbering`), so that those of one query are adjacent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.keys import JsonObject
from ranktrial.ir.trec import Run, ranking

DIGITS = 5  # of a score


class Ranking(NamedTuple):
    """The first documents of a query in one run, by number, and the ranks (0: not returned) of its relevant ones."""

    documents: np.ndarray
    scores: np.ndarray
    ranks: list[int]


@dataclass
class Rankings:
    """All rankings of a task: by system and seed, then query. `ids` are those of documents by number."""

    queries: list[str]
    relevant: dict[str, list[str]]
    depth: int
    ids: dict[str, int] = field(default_factory=dict)
    of_run: dict[tuple[str, str], dict[str, Ranking]] = field(default_factory=dict)

    def add(self, system: str, seed: str, run: Run, queries: Iterable[str]) -> None:
        """Add the shown part of a run."""
        self.of_run[system, seed] = {query: self._cut(run.get(query, {}), query) for query in queries}

    def _cut(self, scores: dict[str, float], query: str) -> Ranking:
        order = ranking(scores)
        first = order[: self.depth]
        numbers = [self.number(document) for document in first]
        return Ranking(
            np.array(numbers, np.int32),
            np.array([scores[document] for document in first], np.float32),
            ranks_of(order, self.relevant[query]),
        )

    def number(self, document: str) -> int:
        """The number of a document, new or known."""
        return self.ids.setdefault(document, len(self.ids))

    @property
    def seeds(self) -> dict[str, list[str]]:
        """The seeds of each system."""
        found: dict[str, list[str]] = {}
        for system, seed in self.of_run:
            found.setdefault(system, []).append(seed)
        return found


def ranks_of(order: Sequence[str], documents: Sequence[str]) -> list[int]:
    """The rank of each of `documents` in an order, 0 if it is not there."""
    wanted = set(documents)
    ranks = {document: rank for rank, document in enumerate(order, 1) if document in wanted}
    return [ranks.get(document, 0) for document in documents]


@dataclass
class Numbering:
    """The documents in the order in which queries first show them: their numbers in runs, and their best ranks."""

    order: list[int] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    of_number: dict[int, int] = field(default_factory=dict)

    def take(self, number: int, rank: int) -> int:
        """The position of a document that is shown at `rank`."""
        place = self.of_number.setdefault(number, len(self.order))
        if place == len(self.order):
            self.order.append(number)
            self.best.append(rank)
        self.best[place] = min(self.best[place], rank)
        return place


def query_record(
    rankings: Rankings, query: str, ids: Sequence[str], grades: dict[str, int], numbering: Numbering
) -> JsonObject:
    """A query's rankings as the page reads them: its documents, relevant ones first; runs as positions in that list.

    `ids` are those of `rankings` by number.
    """
    relevant = [rankings.ids[document] for document in rankings.relevant[query]]
    runs = {key: of_query[query] for key, of_query in rankings.of_run.items() if query in of_query}
    best = dict.fromkeys(relevant, 1)
    for one in runs.values():
        for rank, number in enumerate(one.documents.tolist(), 1):
            best[number] = min(best.get(number, rank), rank)
    local = {number: place for place, number in enumerate(best)}
    return {
        "documents": [numbering.take(number, rank) for number, rank in best.items()],
        "grades": [grades.get(ids[number]) for number in best],
        "relevant": len(relevant),
        "runs": {f"{system} {seed}": _run_record(one, local) for (system, seed), one in runs.items()},
    }


def _run_record(one: Ranking, local: dict[int, int]) -> list[list[Any]]:
    places = [local[number] for number in one.documents.tolist()]
    return [places, [float(f"{score:.{DIGITS}g}") for score in one.scores.tolist()], one.ranks]
