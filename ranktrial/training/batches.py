"""The batches of a training, all made before it starts, so that its steps and examples can be counted.

They depend only on the rows, the seed and the number of the pass, so that a resumed training continues with the same
batches. In a pass, each row is used exactly once. An epoch is a pass over all its rows; each epoch may have rows of its
own, which the training set contains epoch after epoch. If an epoch is a number of steps, it takes the next batches of
one pass after another.

All epochs must have the same number of batches. If rows conflict, passes may differ by a few: the largest batches of
the shorter passes are then halved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, islice
from typing import NamedTuple

import numpy as np
import torch
from sentence_transformers.base.sampler import DefaultBatchSampler

from ranktrial.training.conflicts import rows_of, without_conflicts
from ranktrial.training.in_batch import Apart

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
