"""The batches of a training. Their order depends only on seed and epoch, so a resumed epoch is the same.

If each epoch has rows of its own, the training set contains them epoch after epoch, in equal numbers. If an epoch is a
number of steps, it may cover a part of all rows, or pass over them several times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, islice

import torch
from datasets import Dataset
from sentence_transformers.base.sampler import DefaultBatchSampler, NoDuplicatesBatchSampler

from scripts.training.in_batch import NOTHING_APART, Apart


class ShuffledBatches(DefaultBatchSampler):
    """All rows of the training set in random order; the last batch may be smaller."""

    def __init__(self, dataset: Dataset, batch_size: int, **others) -> None:
        super().__init__(dataset, batch_size, **others)
        self.rows = len(dataset)

    def __iter__(self) -> Iterator[list[int]]:
        self.generator.manual_seed(spread(self.seed) + self.epoch)
        order = torch.randperm(self.rows, generator=self.generator).tolist()
        for first in range(0, self.rows, self.batch_size):
            yield order[first : first + self.batch_size]

    def __len__(self) -> int:
        return math.ceil(self.rows / self.batch_size)


class BatchesOfEpochs(DefaultBatchSampler):
    """In each epoch, the batches that `sampler` makes of the rows of that epoch."""

    def __init__(self, dataset: Dataset, batch_size: int, *, sampler: Callable, epochs: int, **others) -> None:
        super().__init__(dataset, batch_size, **others)
        self.rows = len(dataset) // epochs
        self.dataset = dataset
        self.of_one_epoch: Callable[[Dataset], DefaultBatchSampler] = partial(sampler, batch_size=batch_size, **others)

    def __iter__(self) -> Iterator[list[int]]:
        first = self.epoch * self.rows
        batches = self.of_one_epoch(self.dataset.select(range(first, first + self.rows)))
        batches.set_epoch(self.epoch)
        for batch in batches:
            yield [first + row for row in batch]

    def __len__(self) -> int:
        return math.ceil(self.rows / self.batch_size)


class BatchesOfSteps(DefaultBatchSampler):
    """In each epoch, the next `steps` batches that `sampler` makes of all rows, pass after pass."""

    def __init__(self, dataset: Dataset, batch_size: int, *, sampler: Callable, steps: int, **others) -> None:
        super().__init__(dataset, batch_size, **others)
        self.steps = steps
        self.of_one_pass: DefaultBatchSampler = sampler(dataset, batch_size=batch_size, **others)

    def __iter__(self) -> Iterator[list[int]]:
        passes, skipped = divmod(self.epoch * self.steps, len(self.of_one_pass))
        yield from islice(self._from_pass(passes), skipped, skipped + self.steps)

    def __len__(self) -> int:
        return self.steps

    def _from_pass(self, first: int) -> Iterator[list[int]]:
        for number in count(first):
            self.of_one_pass.set_epoch(number)
            yield from self.of_one_pass


def without_duplicates(
    dataset: Dataset, batch_size: int, seed: int, apart: Apart = NOTHING_APART, **others
) -> NoDuplicatesBatchSampler:
    """Batches without duplicate texts, for losses that use one row's positive as another's negative.

    They also keep each query `apart` from the documents listed for it: the sampler sees these as texts of the query's
    row.
    """
    queries = list(dataset["anchor"]) if apart else []
    for number in range(max(map(len, apart.values()), default=0)):
        texts = [apart.get(query, [])[number : number + 1] or [query] for query in queries]
        dataset = dataset.add_column(f"apart_{number}", [text for (text,) in texts])
    return NoDuplicatesBatchSampler(dataset, batch_size, seed=spread(seed), **others)


def spread(seed: int) -> int:
    """A seed to which epoch numbers can be added without reaching the values of the next seed."""
    return seed << 20
