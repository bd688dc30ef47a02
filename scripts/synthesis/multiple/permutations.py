"""The max-T permutation test of a family: p-values and intervals that hold for all its differences at once.

Reads and writes nothing. Under the null hypothesis that all systems are alike, the values of a query may be handed to
the systems in any order. In each permutation every query is permuted on its own, and the largest statistic of the
family is kept: that a statistic is exceeded by this maximum has the probability p, adjusted for the whole family.

    statistic t            |D| / se(D), the se of each pair's own differences, in each permutation anew
    statistic difference   |D|: the randomised Tukey HSD of Carterette (2012), ACM TOIS 30(1), article 4

Westfall and Young (1993), Resampling-Based Multiple Testing, chapter 2; Phipson and Smyth (2010) for (b + 1) / (B + 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from scripts.synthesis.multiple.contrasts import Contrasts, Task, centred, differences, variances

STATISTICS = ("t", "difference")
_BLOCK = 2**19  # values in memory at once, and as many again in copies
_EQUAL = 1e-10  # statistics that differ by less, relatively, differ by rounding


class Simultaneous(NamedTuple):
    """The tests of a family. `critical` is what a statistic has to exceed for p < alpha (infinite: none can)."""

    p_values: np.ndarray
    critical: float
    permutations: int
    exact: bool


def max_t_test(
    tables: Sequence[np.ndarray],
    contrasts: Contrasts,
    statistic: str,
    alpha: float,
    permutations: int,
    generators: Sequence[np.random.Generator],
) -> Simultaneous:
    """Test the differences of a family over tasks; a table (queries, systems) and a generator each.

    All permutations are enumerated where they are no more than `permutations`: p is then the share of them with a
    maximum at least as large. Else `permutations` are drawn, and p = (b + 1) / (B + 1).
    """
    tasks = [centred(table) for table in tables]
    count = _number_of_all(tasks, permutations)
    blocks = _all(tasks, count) if count else _drawn(tasks, permutations, generators)
    maxima = np.concatenate([statistics(block, contrasts, statistic).max(axis=1) for block in blocks])
    maxima.sort()
    observed = statistics(tasks, contrasts, statistic)[0]
    exceeding = len(maxima) - np.searchsorted(maxima, observed * (1 - _EQUAL), side="left")
    added = 0 if count else 1  # the data as they are, which an enumeration holds already
    possible = len(maxima) + added
    allowed = math.ceil(alpha * possible * (1 - 1e-12)) - 1 - added  # the most exceeding maxima that make p < alpha
    critical = float(maxima[len(maxima) - 1 - allowed]) if allowed >= 0 else math.inf
    return Simultaneous((exceeding + added) / possible, critical, len(maxima), bool(count))


def statistics(tasks: Sequence[Task], contrasts: Contrasts, statistic: str) -> np.ndarray:
    """The statistic of each permutation and contrast."""
    size: np.ndarray = np.abs(differences(tasks, contrasts))
    if statistic == "difference":
        return size
    se = np.sqrt(variances(tasks, contrasts))
    size[size <= _EQUAL * max((np.abs(task.values).max(initial=0) for task in tasks), default=0)] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = size / se
    t[size == 0] = 0  # also where the se is 0: equal systems
    return np.where(np.isnan(t), np.inf, t)  # one query has no se: nothing can be told apart


def _number_of_all(tasks: Sequence[Task], most: int) -> int:
    """The number of all permutations, or 0 where they are more than `most`."""
    rows = sum(task.values.shape[1] for task in tasks)
    orders = math.factorial(tasks[0].values.shape[2])
    count = 1
    for _ in range(rows):
        count *= orders
        if count > most:
            return 0
    return count


def _all(tasks: Sequence[Task], count: int) -> Iterator[list[Task]]:
    """All permutations in blocks: the digits of their number, to the base of the orders of a row, say which."""
    systems = tasks[0].values.shape[2]
    orders = np.array(list(itertools.permutations(range(systems))))
    for numbers in _blocks(tasks, count):
        block, left = [], numbers
        for task in tasks:
            rows = task.values.shape[1]
            digits = np.empty((len(numbers), rows), dtype=int)
            for row in range(rows):
                left, digits[:, row] = np.divmod(left, len(orders))
            whole = np.broadcast_to(task.values, (len(numbers), rows, systems))
            block.append(Task(np.take_along_axis(whole, orders[digits], axis=2), task.queries))
        yield block


def _drawn(tasks: Sequence[Task], count: int, generators: Sequence[np.random.Generator]) -> Iterator[list[Task]]:
    """Random permutations in blocks; each task has its own generator, so its draws do not depend on other tasks."""
    for numbers in _blocks(tasks, count):
        block = []
        for task, generator in zip(tasks, generators, strict=True):
            whole = np.repeat(task.values, len(numbers), axis=0)
            block.append(Task(generator.permuted(whole, axis=2, out=whole), task.queries))
        yield block


def _blocks(tasks: Sequence[Task], count: int) -> Iterator[np.ndarray]:
    size = max(1, _BLOCK // max(1, sum(task.values[0].size for task in tasks)))
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))
