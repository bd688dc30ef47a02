"""The batches of a training: each row once per pass, no conflicts, full where possible, the same when made again."""

import random
import time
from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest

from ranktrial.common.settings import read_settings
from ranktrial.models import running  # noqa: F401  before torch: it sets how torch's threads wait
from ranktrial.training import several
from ranktrial.training.batches import full_batches, passes_of
from ranktrial.training.training_settings import Settings
from tests.support.tiny_task import SCHEDULE

SEEDS = range(40)


def settings(**keys):
    return read_settings(Settings, SCHEDULE | keys)


def lists_of(sizes, documents, negatives, rng):
    """Rows of queries with so many positives each among the documents; the relevant documents of each query."""
    names = ["anchor", "positive", *(f"negative_{number + 1}" for number in range(negatives))]
    rows, relevant = [], {}
    for number, size in enumerate(sizes):
        positives = rng.sample(range(documents), size)
        others = [one for one in range(documents) if one not in positives]
        chosen = [rng.choice(others) for _ in range(negatives)]
        relevant[f"query {number}"] = [f"document {one}" for one in positives]
        rows += [(f"query {number}", *(f"document {one}" for one in (positive, *chosen))) for positive in positives]
    rng.shuffle(rows)
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), relevant


def shape(seed):
    """Columns of one of many shapes of data, the documents to keep apart, and a batch size."""
    rng = random.Random(seed)
    documents = rng.choice([40, 400])
    longest = rng.choice([1, 3, 20])
    sizes = [min(documents - 1, rng.randint(1, longest)) for _ in range(rng.choice([1, 5, 30]))]
    if seed % 5 == 0:
        sizes[0] = 30
    columns, relevant = lists_of(sizes, documents, rng.choice([0, 1, 3]), rng)
    return columns, relevant if seed % 2 else {}, rng.choice([1, 2, 7, 32])


def conflict(columns, apart, one, other):
    texts = [{values[row] for values in columns.values()} for row in (one, other)]
    kept = [set(apart.get(columns["anchor"][row], ())) for row in (one, other)]
    return bool(texts[0] & texts[1] or kept[0] & texts[1] or kept[1] & texts[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_is_used_once_in_each_epoch_and_no_batch_has_a_conflict(seed):
    columns, apart, batch_size = shape(seed)
    asked = settings(batch_size=batch_size, epochs=3, seed=seed)
    (made,) = several.schedules([columns], asked, apart)
    rows = len(columns["anchor"])
    assert made.rows == rows and len({len(batches) for batches in made.epochs}) == 1
    for batches in made.epochs:
        assert sorted(row for batch in batches for row in batch) == list(range(rows))
        assert all(1 <= len(batch) <= batch_size for batch in batches)
        assert not any(conflict(columns, apart, *pair) for batch in batches for pair in combinations(batch, 2))
    assert several.steps_of([made], asked) == 3 * len(made.epochs[0])
    assert several.reached([made], asked) == [rows] and several.used([made], asked, 10**6) == [3 * rows]
    assert several.used([made], asked, 1) == [len(made.epochs[0][0])]
    (again,) = several.schedules([columns], asked, apart)
    assert all(map(np.array_equal, chain(*made.epochs), chain(*again.epochs)))


@pytest.mark.parametrize("seed", SEEDS)
def test_if_only_queries_repeat_there_are_as_many_full_batches_and_as_few_in_all_as_can_be(seed):
    """A query of m rows needs m batches; at most n batches are full if the rows, at most n per query, are n times B."""
    rng = random.Random(seed)
    sizes = [rng.choice([1, 1, 2, rng.randint(1, 60)]) for _ in range(rng.randint(1, 40))]
    names = [f"query {number}" for number, size in enumerate(sizes) for _ in range(size)]
    columns = {"anchor": names, "positive": [f"document {number}" for number in range(len(names))]}
    batch_size = rng.choice([1, 2, 5, 16])
    made = passes_of(columns, batch_size, seed, {})(0)
    most = max(n for n in range(len(names) + 1) if sum(min(size, n) for size in sizes) >= n * batch_size)
    assert full_batches(np.array(sizes), batch_size) == most
    assert sum(len(batch) == batch_size for batch in made) == most
    assert len(made) == max(max(sizes), -(-len(names) // batch_size))


def test_without_repeated_texts_the_batches_are_those_of_the_library():
    import torch
    from datasets import Dataset
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    columns = {"anchor": [f"a{n}" for n in range(203)], "positive": [f"p{n}" for n in range(203)]}
    generator = torch.Generator()
    library = NoDuplicatesBatchSampler(Dataset.from_dict(columns), 8, False, [], generator, seed=3 << 20)
    for number in (0, 1):
        library.set_epoch(number)
        for apart in ({}, None):
            assert [batch.tolist() for batch in passes_of(columns, 8, 3, apart)(number)] == list(library)


@pytest.mark.parametrize("apart", [{}, None])
def test_the_order_depends_on_seed_and_epoch(apart):
    columns = {"anchor": [f"a{n}" for n in range(30)], "positive": [f"p{n}" for n in range(30)]}
    orders = [np.concatenate(passes_of(columns, 4, seed, apart)(number)) for seed in (1, 2) for number in (0, 1)]
    assert not any(map(np.array_equal, orders, orders[1:]))


@pytest.mark.parametrize("apart", [{}, None])
def test_an_epoch_with_rows_of_its_own_has_no_others(apart):
    columns, _ = lists_of([1, 2, 5, 1, 1], 50, 2, random.Random(1))
    drawn = {name: values * 3 for name, values in columns.items()}
    asked = settings(epochs=3, draw="epoch", batch_size=4)
    (made,) = several.schedules([drawn], asked, apart)
    for number, batches in enumerate(made.epochs):
        assert sorted(row for batch in batches for row in batch) == list(range(10 * number, 10 * number + 10))
    assert several.rows_of([drawn], asked) == several.reached([made], asked) == [10]
    assert len({str([batch % 10 for batch in batches]) for batches in made.epochs}) == 3


@pytest.mark.parametrize("apart", [{}, None])
@pytest.mark.parametrize("steps", [3, 20])
def test_epochs_of_steps_are_passes_over_all_rows_one_after_another(apart, steps):
    columns, _ = lists_of([20, 1, 1, 9], 90, 1, random.Random(2))
    asked = settings(epochs=8, batch_size=4, steps_per_epoch=steps)
    (made,) = several.schedules([columns], asked, apart)
    assert [len(batches) for batches in made.epochs] == [steps] * 8
    found, passes = list(chain(*made.epochs)), passes_of(columns, 4, asked.seed, apart)
    expected = [batch for number in range(len(found)) for batch in passes(number)][: len(found)]
    assert all(map(np.array_equal, found, expected))
    first = len(passes(0))
    if first <= len(found):
        assert sorted(np.concatenate(found[:first])) == list(range(31))
    assert several.reached([made], asked) == [round(sum(map(len, found)) / 8)]


@pytest.mark.parametrize("sampler", several.SAMPLERS)
def test_of_several_datasets_each_row_is_used_once_or_as_far_as_the_smallest_reaches(sampler):
    rng = random.Random(3)
    columns = [lists_of(sizes, 300, 1, rng)[0] for sizes in ([20] * 8, [1] * 50, [3, 1, 40])]
    asked = settings(epochs=2, batch_size=32, multi_dataset_batch_sampler=sampler)
    made = several.schedules(columns, asked, {})
    counts = [len(one.epochs[0]) for one in made]
    if sampler == "proportional":
        assert several.steps_of(made, asked) == 2 * sum(counts)
        assert several.reached(made, asked) == [160, 50, 44]
    else:
        assert several.steps_of(made, asked) == 2 * 3 * min(counts)
        first = [sum(len(batch) for batches in one.epochs for batch in batches[: min(counts)]) for one in made]
        assert several.used(made, asked, 10**6) == first


def test_a_part_of_an_epoch_is_a_part_of_its_steps():
    columns, _ = lists_of([1] * 40, 100, 0, random.Random(4))
    asked = settings(epochs=1.5, batch_size=4)
    (made,) = several.schedules([columns], asked, None)
    assert several.steps_of([made], asked) == 15 and several.used([made], asked, 15) == [60]
    assert several.reached([made], asked) == [40]


def test_the_time_is_about_proportional_to_the_number_of_rows():
    """A hundred thousand rows of queries with many positives take seconds; a quadratic loop would take hours."""
    rng = random.Random(5)
    columns, _ = lists_of([100] * 1000, 5000, 0, rng)
    start = time.process_time()
    made = passes_of(columns, 128, 1, {})(0)
    assert time.process_time() - start < 20
    assert len(made) < 1.05 * 100_000 / 128 and Counter(map(len, made)).most_common(1)[0][0] == 128
