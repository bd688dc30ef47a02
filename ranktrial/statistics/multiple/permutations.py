"""The max-T permutation test of a family: simultaneous p-values and intervals for all its differences.

Reads and writes nothing. Queries are permuted independently, many times, and each time the largest statistic of the
family is recorded: the adjusted p-value is the probability that this maximum is at least as large as a statistic.

    statistic t            |D| / se(D), the se of each pair's own differences, each time anew. A permutation turns the
                           signs of all differences of a query: each pair's own randomisation test, and how the pairs
                           vary together stays as it is, also where some systems differ (subset pivotality)
    statistic difference   |D|. A permutation hands a query's values to the systems in any order: the randomised Tukey
                           HSD of Carterette (2012), ACM TOIS 30(1), article 4

Westfall and Young (1993), Resampling-Based Multiple Testing, chapter 2; Phipson and Smyth (2010) for (b + 1) / (B + 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ranktrial.statistics.multiple.contrasts import Contrasts, Task, differences, observed, variances, varying_rows
from ranktrial.statistics.task.sign_flips import flipped_sums

STATISTICS = ("t", "difference")
_BLOCK = 2**19  # values in memory at once, and as many again in copies
_EQUAL = 1e-10  # statistics that differ by less, relatively, differ by rounding


class Simultaneous(NamedTuple):
    """The tests of a family; a statistic must exceed `critical` for p < alpha (infinite: none can)."""

    p_values: np.ndarray
    critical: float
    permutations: int
    exact: bool


def max_t_test(
    tables: Sequence[np.ndarray], contrasts: Contrasts, statistic: str, alpha: float, permutations: int, seed: int
) -> Simultaneous:
    """Test the differences of a family over tasks, each given as a table (queries, systems).

    All permutations are enumerated if they are at most `permutations`: p is then the share of them with a maximum at
    least as large. Else `permutations` are sampled, and p = (b + 1) / (B + 1).
    """
    rows, tasks = [varying_rows(table) for table in tables], [observed(table) for table in tables]
    permute = signs_turned if statistic == "t" else values_reordered
    sums, exact = permute(rows, permutations, seed)
    maxima = np.concatenate([statistics(block, contrasts, statistic).max(axis=1) for block in _blocks(tasks, sums)])
    maxima.sort()
    found = statistics(tasks, contrasts, statistic)[0]
    exceeding = len(maxima) - np.searchsorted(maxima, found * (1 - _EQUAL), side="left")
    added = 0 if exact else 1  # the observed data, which an enumeration already includes
    possible = len(maxima) + added
    allowed = (
        math.ceil(alpha * possible * (1 - 1e-12)) - 1 - added
    )  # the largest number of exceeding maxima with p < alpha
    critical = float(maxima[len(maxima) - 1 - allowed]) if allowed >= 0 else math.inf
    return Simultaneous((exceeding + added) / possible, critical, len(maxima), exact)


def statistics(tasks: Sequence[Task], contrasts: Contrasts, statistic: str) -> np.ndarray:
    """The statistic of each permutation and contrast."""
    size: np.ndarray = np.abs(differences(tasks, contrasts))
    if statistic == "difference":
        return size
    se = np.sqrt(variances(tasks, contrasts))
    size[size <= _EQUAL * math.sqrt(max(np.diag(task.products).max() for task in tasks))] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = size / se
    t[size == 0] = 0  # also if the se is 0: equal systems
    return np.where(np.isnan(t), np.inf, t)  # one query has no se: no difference can be significant


def signs_turned(tables: Sequence[np.ndarray], permutations: int, seed: int) -> tuple[list[np.ndarray], bool]:
    """Each task's sums, shape (permutations, systems), with flipped signs of queries' values; whether these are all.

    Rows are centred, so that all differences of the query flip. With two systems, the flips are those of a comparison's
    randomisation test.
    """
    systems = tables[0].shape[1]
    columns = np.cumsum([0, *map(len, tables)])
    side_by_side = np.zeros((len(tables) * systems, columns[-1]))
    for place, rows in enumerate(tables):
        side_by_side[place * systems : (place + 1) * systems, columns[place] : columns[place + 1]] = rows.T
    flipped = flipped_sums(side_by_side, seed, permutations)
    return np.split(flipped.sums.T, len(tables), axis=1), flipped.exact


def values_reordered(tables: Sequence[np.ndarray], permutations: int, seed: int) -> tuple[list[np.ndarray], bool]:
    """Each task's sums, shape (permutations, systems), with a query's values in any order; whether these are all."""
    orders = math.factorial(tables[0].shape[1])
    queries, count = sum(map(len, tables)), 1
    while queries and count <= permutations:
        queries, count = queries - 1, count * orders
    if count <= permutations:
        return _all_orders(tables, count), True
    return [_random_orders(rows, permutations, [seed, place]) for place, rows in enumerate(tables)], False


def _all_orders(tables: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """The sums in all orders, given by the digits of a permutation's number in the base of a query's orders."""
    orders = np.array(list(itertools.permutations(range(tables[0].shape[1]))))
    sums, left = [], np.arange(count)
    for rows in tables:
        total = np.zeros((count, rows.shape[1]))
        for row in rows:
            left, digit = np.divmod(left, len(orders))
            total += row[orders[digit]]
        sums.append(total)
    return sums


def _random_orders(rows: np.ndarray, count: int, seed: list[int]) -> np.ndarray:
    """The sums in `count` random orders, by NumPy's PCG64; memory does not grow with their number."""
    generator, size = np.random.default_rng(seed), max(1, _BLOCK // max(1, rows.size))
    sums = []
    for start in range(0, count, size):
        whole = np.repeat(rows[np.newaxis], min(size, count - start), axis=0)
        sums.append(generator.permuted(whole, axis=2, out=whole).sum(axis=1))
    return np.concatenate(sums)


def _blocks(tasks: Sequence[Task], sums: Sequence[np.ndarray]) -> Iterator[list[Task]]:
    """The tasks' permutations in blocks: each has a statistic for every pair of systems."""
    size = max(1, _BLOCK // tasks[0].products.size)
    for start in range(0, len(sums[0]), size):
        parts = [total[start : start + size] for total in sums]
        yield [task._replace(means=part / task.queries) for task, part in zip(tasks, parts, strict=True)]
