"""Batches without conflicts, for losses that use one row's positive as another row's negative.

Two rows conflict if they share a text, or if a text of one is to be kept apart from the other's query. Each row of a
pass is in exactly one batch, so a query with ten rows needs ten batches.

The rows follow the random order of the pass; a row that conflicts with its batch waits for the next. Rows that share
their most frequent text form a group, of which a batch has at most one row. A group with as many rows as there are full
batches to come is served first, since some of its rows would otherwise be left for batches of their own. If rows
conflict only within groups, no other choice makes more full batches, or fewer batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

ROWS_TRIED = 8  # of one group, for one batch
GROUPS_TRIED = 32  # per place of a batch: bounds the time if nearly all rows conflict


class Rows(NamedTuple):
    """By row: the numbers of its texts, of the texts to keep apart from its query, and of its group."""

    texts: list[list[int]]
    apart: list[frozenset[int]]
    groups: np.ndarray


def rows_of(columns: Mapping[str, Sequence[str]], apart: Mapping[str, Iterable[str]]) -> Rows:
    """The rows of columns of texts, of which the first are the queries; `apart` maps queries to texts."""
    numbers: dict[str, int] = {}
    columns_of_numbers = [[numbers.setdefault(text, len(numbers)) for text in texts] for texts in columns.values()]
    texts = np.array(columns_of_numbers, dtype=np.int64).T
    ordered = np.sort(texts, axis=1)
    counted = np.ones(ordered.shape, dtype=bool)
    counted[:, 1:] = ordered[:, 1:] != ordered[:, :-1]  # a text that a row contains twice counts once
    counts = np.bincount(ordered[counted], minlength=len(numbers))
    groups = texts[np.arange(len(texts)), counts[texts].argmax(axis=1)]
    known = {
        numbers[query]: frozenset(numbers[text] for text in kept if text in numbers)
        for query, kept in apart.items()
        if query in numbers
    }
    nothing: frozenset[int] = frozenset()
    return Rows(texts.tolist(), [known.get(query, nothing) for query in columns_of_numbers[0]], groups)


def without_conflicts(rows: Rows, order: np.ndarray, batch_size: int) -> list[list[int]]:
    """Batches of all rows in `order`, as many of them full as possible."""
    _, groups = np.unique(rows.groups[order], return_inverse=True)
    by_group = np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1])
    return list(
        _Pass(rows, order.tolist(), groups.tolist(), [places[::-1].tolist() for places in by_group], batch_size)
    )


def full_batches(sizes: np.ndarray, batch_size: int) -> int:
    """The largest number of full batches of rows from groups of these sizes, with one row per group and batch.

    It is the largest n for which the sum of min(size, n) is at least n * batch_size.
    """
    lowest, highest = 0, int(sizes.sum()) // batch_size
    while lowest < highest:
        n = (lowest + highest + 1) // 2
        lowest, highest = (n, highest) if np.minimum(sizes, n).sum() >= n * batch_size else (lowest, n - 1)
    return lowest


class _Batch:
    """The rows chosen for a batch, by group."""

    def __init__(self, rows: Rows, size: int) -> None:
        self.rows, self.size = rows, size
        self.chosen: dict[int, int] = {}
        self.present: set[int] = set()
        self.taken: set[int] = set()  # present, or to be kept apart from a query that is
        self.tries = GROUPS_TRIED * size

    @property
    def is_open(self) -> bool:
        return len(self.chosen) < self.size and self.tries > 0

    def fits(self, row: int) -> bool:
        return self.taken.isdisjoint(self.rows.texts[row]) and self.present.isdisjoint(self.rows.apart[row])

    def add(self, group: int, row: int) -> None:
        self.chosen[group] = row
        self.present.update(self.rows.texts[row])
        self.taken.update(self.rows.texts[row], self.rows.apart[row])


class _Pass:
    """An iterator of the batches of a pass; `waiting` are the places in `order` of each group, the next one last."""

    def __init__(
        self, rows: Rows, order: list[int], groups: list[int], waiting: list[list[int]], batch_size: int
    ) -> None:
        self.rows, self.order, self.groups, self.waiting, self.batch_size = rows, order, groups, waiting, batch_size
        self.queue = [places[-1] for places in waiting]  # a heap of the next places of all groups, and of past ones
        heapify(self.queue)

    def __iter__(self) -> Iterator[list[int]]:
        left, to_come = len(self.order), 0
        while left:
            if to_come == 0:
                to_come, urgent, by_size = self._plan()
            urgent += [group for group in by_size.pop(to_come, ()) if len(self.waiting[group]) == to_come]
            urgent = sorted(filter(self.waiting.__getitem__, urgent), key=self._urgency)
            chosen = self._next_batch(urgent)
            for group in chosen.keys() - set(urgent):
                by_size.setdefault(len(self.waiting[group]), []).append(group)
            left, to_come = left - len(chosen), max(to_come - 1, 0)
            yield list(chosen.values())

    def _plan(self) -> tuple[int, list[int], dict[int, list[int]]]:
        """The number of full batches to come, the groups with more rows than that, and the others by their size."""
        sizes = np.array([len(places) for places in self.waiting])
        to_come = full_batches(sizes, self.batch_size)
        by_size: dict[int, list[int]] = {}
        for group in np.flatnonzero((sizes > 0) & (sizes <= to_come)).tolist():
            by_size.setdefault(len(self.waiting[group]), []).append(group)
        return to_come, np.flatnonzero(sizes > to_come).tolist(), by_size

    def _urgency(self, group: int) -> tuple[int, int]:
        return -len(self.waiting[group]), self.waiting[group][-1]

    def _next_batch(self, urgent: list[int]) -> dict[int, int]:
        """The rows of one batch by group: those of urgent groups first, then in the order of the pass."""
        batch = _Batch(self.rows, self.batch_size)
        again = []
        for group in urgent:
            if batch.is_open:
                place = self.waiting[group][-1]
                self._choose(group, batch)
                if self.waiting[group] and self.waiting[group][-1] != place:
                    again.append(group)
        while self.queue and batch.is_open:
            place = heappop(self.queue)
            group = self.groups[place]
            if self.waiting[group] and self.waiting[group][-1] == place:
                if group not in batch.chosen:
                    self._choose(group, batch)
                if self.waiting[group]:
                    again.append(group)
        for group in again:
            heappush(self.queue, self.waiting[group][-1])
        return batch.chosen

    def _choose(self, group: int, batch: _Batch) -> None:
        """Put the group's first waiting row that fits into the batch, if there is one among the next few."""
        batch.tries -= 1
        places = self.waiting[group]
        for number in range(len(places) - 1, max(len(places) - 1 - ROWS_TRIED, -1), -1):
            row = self.order[places[number]]
            if batch.fits(row):
                batch.add(group, row)
                del places[number]
                return
