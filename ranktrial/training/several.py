"""Training sets of several datasets in one training, as in the library: each batch is from one dataset.

The library draws the order of proportional batches from seed and epoch in the same way as the order within a dataset;
here, seeds are spread (see batches.py), so that no epoch of a seed has the order of another seed's. Datasets are named
by numbers: if one were named like a column, such as `query`, the library would use this column's prompt for all
columns.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate, cycle, islice

import torch
from datasets import Dataset, DatasetDict
from sentence_transformers.base.sampler import (
    MultiDatasetDefaultBatchSampler,
    ProportionalBatchSampler,
    RoundRobinBatchSampler,
)
from torch.utils.data import ConcatDataset

from ranktrial.training import batches
from ranktrial.training.batches import Planned, Schedule, spread
from ranktrial.training.examples import Apart
from ranktrial.training.training_settings import Settings

Columns = dict[str, list]
SAMPLERS = {"proportional": ProportionalBatchSampler, "round_robin": RoundRobinBatchSampler}


def as_dataset(columns: list[Columns]) -> Dataset | DatasetDict:
    """The library's training set for the columns of each dataset."""
    if len(columns) == 1:
        return Dataset.from_dict(columns[0])
    return DatasetDict({str(number): Dataset.from_dict(one) for number, one in enumerate(columns, 1)})


def names_of(columns: list[Columns]) -> list[str]:
    """The columns of all datasets; some may have more negatives per row than others."""
    return list(dict.fromkeys(name for one in columns for name in one))


def rows_of(columns: list[Columns], settings: Settings) -> list[int]:
    """The number of rows per epoch, by dataset."""
    draws = int(settings.epochs) if settings.draw == "epoch" else 1
    return [len(next(iter(one.values()))) // draws for one in columns]


def schedules(columns: list[Columns], settings: Settings, apart: Apart | None) -> list[Schedule]:
    """The batches of each dataset; they have no conflicts, unless `apart` is None (see batches.py)."""
    return [_schedule(one, settings, apart) for one in columns]


def _schedule(columns: Columns, settings: Settings, apart: Apart | None) -> Schedule:
    make = partial(batches.passes_of, batch_size=settings.batch_size, seed=settings.seed, kept_apart=apart)
    epochs = math.ceil(settings.epochs)
    (rows,) = rows_of([columns], settings)
    if settings.draw == "epoch":
        firsts = [rows * epoch for epoch in range(epochs)]
        parts = [{name: values[first : first + rows] for name, values in columns.items()} for first in firsts]
        return Schedule(rows * epochs, batches.of_draws([make(part) for part in parts], rows))
    if settings.steps_per_epoch:  # only with a single dataset
        return Schedule(rows, batches.of_steps(make(columns), epochs, settings.steps_per_epoch))
    return Schedule(rows, batches.of_passes(make(columns), epochs))


def steps_of(made: list[Schedule], settings: Settings) -> int:
    """The number of steps of a training, of which the last epoch may be a part."""
    return math.ceil(settings.epochs * len(_merged(made, settings)))


def used(made: list[Schedule], settings: Settings, steps: int) -> list[int]:
    """The number of rows in the first `steps` batches of a training, by dataset."""
    ends, counts = list(accumulate(one.rows for one in made)), [0] * len(made)
    for batch in islice(_in_order(_merged(made, settings), len(made[0].epochs)), steps):
        counts[bisect(ends, batch[0])] += len(batch)
    return counts


def reached(made: list[Schedule], settings: Settings) -> list[int]:
    """The number of rows used per epoch, by dataset, averaged over epochs."""
    epochs = len(made[0].epochs)
    return [round(count / epochs) for count in used(made, settings, epochs * len(_merged(made, settings)))]


def _merged(made: list[Schedule], settings: Settings) -> MultiDatasetDefaultBatchSampler:
    """The batches of all datasets in the order of the library's trainer."""
    places = ConcatDataset([range(one.rows) for one in made])
    each = [Planned(one, batch_size=settings.batch_size, drop_last=False) for one in made]
    return sampler(settings)(places, each, torch.Generator(), settings.seed)


def _in_order(merged: MultiDatasetDefaultBatchSampler, epochs: int) -> Iterator[list[int]]:
    for epoch in range(epochs):
        merged.set_epoch(epoch)
        yield from merged


def samplers(made: list[Schedule]) -> Callable[..., Planned]:
    """A function by which the library's trainer gets the sampler of each dataset, which it asks for in their order."""
    following = cycle(made)
    return lambda dataset, **others: Planned(next(following), dataset, **others)


def sampler(settings: Settings) -> partial[MultiDatasetDefaultBatchSampler]:
    """A function by which the library's trainer merges the batches of all datasets into one sequence."""
    return partial(_spread, SAMPLERS[settings.multi_dataset_batch_sampler])


def _spread(made: type, dataset, batch_samplers: list, generator, seed: int) -> MultiDatasetDefaultBatchSampler:
    return made(dataset, batch_samplers=batch_samplers, generator=generator, seed=spread(seed))
