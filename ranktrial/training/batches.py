"""The batches of a training, all made before it starts, so that its steps and examples can be counted.

They depend only on the rows, the seed and the number of the pass, so that a resumed training continues with the same
batches. In a pass, each row is used exactly once. An epoch is a pass over all its rows; each epoch may have rows of its
own, which the training set contains epoch after epoch. If an epoch is a number of steps, it takes the next batches of
one pass after another.

All epochs must have the same number of batches. If rows conflict, passes may differ by a few: the largest batches of
the shorter passes are then halved.

For losses that use one row's positive as another row's negative, batches are without conflicts. Two rows conflict if
they share a text, or if a text of one is to be kept apart from the other's query. Each row of a pass is in exactly one
batch, so a query with ten rows needs ten batches.

The rows follow the random order of the pass; a row that conflicts with its batch waits for the next. Rows that share
their most frequent text form a group, of which a batch has at most one row. A group with as many rows as there are full
batches to come is served first, since some of its rows would otherwise be left for batches of their own. If rows
conflict only within groups, no other choice makes more full batches, or fewer batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count, islice
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers.base.sampler import DefaultBatchSampler

from ranktrial.training.examples import Apart

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


Columns = Mapping[str, Sequence]
Batch = np.ndarray  # numbers of rows
Epochs = list[list[Batch]]
Passes = Callable[[int], list[Batch]]  # the batches of each pass, by its number from 0


class Schedule(NamedTuple):
    """All batches of a training on one dataset; `rows` is the number of rows of the training set."""

    rows: int
    epochs: Epochs


def in_order_of(rows: int, seed: int, number: int) -> tuple[np.ndarray, torch.Generator]:
    """The random order of a pass, and the generator that drew it."""
    generator = torch.Generator().manual_seed(spread(seed) + number)
    return torch.randperm(rows, generator=generator).numpy(), generator


def shuffled(rows: int, batch_size: int, seed: int) -> Passes:
    """Passes over all rows in random order; the last batch may be smaller."""

    def batches(number: int) -> list[Batch]:
        order, _ = in_order_of(rows, seed, number)
        return np.split(order, range(batch_size, rows, batch_size))

    return batches


def without_conflicts_of(columns: Columns, batch_size: int, seed: int, kept_apart: Apart) -> Passes:
    """Passes whose batches have no conflicts, in random order if more of them than the last are not full."""
    rows = rows_of(columns, kept_apart)

    def batches(number: int) -> list[Batch]:
        order, generator = in_order_of(len(rows.texts), seed, number)
        made = [np.array(batch) for batch in without_conflicts(rows, order, batch_size)]
        if len(made) == math.ceil(len(order) / batch_size):
            return made
        return [made[place] for place in torch.randperm(len(made), generator=generator).tolist()]

    return batches


def passes_of(columns: Columns, batch_size: int, seed: int, kept_apart: Apart | None) -> Passes:
    """Passes over the rows of these columns; their batches have no conflicts, unless `kept_apart` is None."""
    if kept_apart is None:
        return shuffled(len(next(iter(columns.values()))), batch_size, seed)
    return without_conflicts_of(columns, batch_size, seed, kept_apart)


def of_passes(passes: Passes, epochs: int) -> Epochs:
    """The batches of epochs that are passes."""
    return of_equal_number([list(passes(number)) for number in range(epochs)])


def of_draws(draws: list[Passes], rows: int) -> Epochs:
    """The batches of epochs with so many rows of their own each: one pass over these."""
    found = enumerate(passes(number) for number, passes in enumerate(draws))
    return of_equal_number([[batch + number * rows for batch in batches] for number, batches in found])


def of_steps(passes: Passes, epochs: int, steps: int) -> Epochs:
    """The batches of epochs of so many steps: the next ones of one pass after another."""
    following = (batch for number in count() for batch in passes(number))
    return [list(islice(following, steps)) for _ in range(epochs)]


def of_equal_number(epochs: Epochs) -> Epochs:
    """The batches of each epoch, the largest halved until all epochs have the same number of batches."""
    most = max(map(len, epochs))
    for batches in epochs:
        while len(batches) < most:
            place = max(range(len(batches)), key=lambda number: len(batches[number]))
            batches[place : place + 1] = np.array_split(batches[place], 2)
    return epochs


class Planned(DefaultBatchSampler):
    """A sampler for the library's trainer, which returns the batches of a schedule."""

    def __init__(self, schedule: Schedule, dataset: Sequence | None = None, **others) -> None:
        super().__init__(range(schedule.rows) if dataset is None else dataset, **others)
        if dataset is not None and len(dataset) != schedule.rows:
            raise ValueError(f"the batches are of {schedule.rows} rows, the training set has {len(dataset)}")
        self.epochs = schedule.epochs

    def __iter__(self) -> Iterator[list[int]]:
        return (batch.tolist() for batch in self.epochs[self.epoch])

    def __len__(self) -> int:
        return len(self.epochs[0])


def spread(seed: int) -> int:
    """A seed to which the numbers of passes can be added without reaching the values of the next seed."""
    return seed << 20
