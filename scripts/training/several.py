"""Training sets of several datasets in one training, as in the library: each batch is from one dataset.

The library draws the order of proportional batches from seed and epoch in the same way as the order within a dataset;
here, seeds are spread (see batches.py), so that no epoch of a seed has the order of another seed's. Datasets are named
by numbers: if one were named like a column, such as `query`, the library would use this column's prompt for all
columns.
"""

from __future__ import annotations

import math
from functools import partial

from datasets import Dataset, DatasetDict
from sentence_transformers.base.sampler import (
    MultiDatasetDefaultBatchSampler,
    ProportionalBatchSampler,
    RoundRobinBatchSampler,
)

from scripts.training.batches import spread
from scripts.training.training_settings import Settings

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


def batches_of(rows: list[int], settings: Settings) -> list[int]:
    """The number of batches per epoch, by dataset; with round_robin, that of the smallest dataset for each."""
    if settings.steps_per_epoch:  # only with a single dataset
        return [settings.steps_per_epoch]
    batches = [math.ceil(count / settings.batch_size) for count in rows]
    return [min(batches)] * len(batches) if settings.multi_dataset_batch_sampler == "round_robin" else batches


def reached(rows: list[int], settings: Settings) -> list[int]:
    """The number of rows used per epoch, by dataset: those of its batches, averaged over whole passes."""
    if settings.steps_per_epoch:
        (count,) = rows
        return [round(settings.steps_per_epoch * count / math.ceil(count / settings.batch_size))]
    made = zip(rows, batches_of(rows, settings), strict=True)
    return [min(count, batches * settings.batch_size) for count, batches in made]


def sampler(settings: Settings) -> partial[MultiDatasetDefaultBatchSampler]:
    """A function by which the library's trainer merges the batches of all datasets into one sequence."""
    return partial(_spread, SAMPLERS[settings.multi_dataset_batch_sampler])


def _spread(made: type, dataset, batch_samplers: list, generator, seed: int) -> MultiDatasetDefaultBatchSampler:
    return made(dataset, batch_samplers=batch_samplers, generator=generator, seed=spread(seed))
