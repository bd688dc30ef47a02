"""The max-T permutation test of a family: p-values and intervals that hold for all its differences at once.

Reads and writes nothing. Each query is permuted on its own, many times, and each time the largest statistic of the
family is kept: that a statistic is exceeded by this maximum has the probability p, adjusted for the whole family.

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

from scripts.synthesis.multiple.contrasts import Contrasts, Task, differences, observed, variances, varying_rows

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
    kind = SignFlips() if statistic == "t" else Reordered(tables[0].shape[1])
    rows = [varying_rows(table) for table in tables]
    tasks = [observed(table) for table in tables]
    count = _number_of_all(rows, kind, permutations)
    sums = _all(rows, kind, count) if count else _drawn(rows, kind, permutations, generators)
    blocks = (
        [task._replace(means=of_task / task.queries) for task, of_task in zip(tasks, block, strict=True)]
        for block in sums
    )
    maxima = np.concatenate([statistics(block, contrasts, statistic).max(axis=1) for block in blocks])
    maxima.sort()
    found = statistics(tasks, contrasts, statistic)[0]
    exceeding = len(maxima) - np.searchsorted(maxima, found * (1 - _EQUAL), side="left")
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
    size[size <= _EQUAL * math.sqrt(max(np.diag(task.products).max() for task in tasks))] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = size / se
    t[size == 0] = 0  # also where the se is 0: equal systems
    return np.where(np.isnan(t), np.inf, t)  # one query has no se: nothing can be told apart


class SignFlips:
    """Turns the signs of a query's values, less their mean, and so those of all its differences."""

    ways = 2  # of one query

    def sums(self, rows: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """The systems' sums over the rows in the numbered ways, which have the shape (permutations, rows)."""
        return np.asarray((1.0 - 2.0 * ways) @ rows)

    def drawn(self, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        """The systems' sums in `count` random ways; draws do not depend on how they are split over calls."""
        return self.sums(rows, generator.random((count, len(rows))) < 0.5)


class Reordered:
    """Hands a query's values to the systems in any order."""

    def __init__(self, systems: int) -> None:
        self.systems, self.ways = systems, math.factorial(systems)

    def sums(self, rows: np.ndarray, ways: np.ndarray) -> np.ndarray:
        """The systems' sums over the rows in the numbered orders, which have the shape (permutations, rows)."""
        orders = np.array(list(itertools.permutations(range(self.systems))))
        whole = np.broadcast_to(rows, (*ways.shape, self.systems))
        return np.asarray(np.take_along_axis(whole, orders[ways], axis=2).sum(axis=1))

    def drawn(self, rows: np.ndarray, count: int, generator: np.random.Generator) -> np.ndarray:
        """The systems' sums in `count` random orders; draws do not depend on how they are split over calls."""
        whole = np.repeat(rows[np.newaxis], count, axis=0)
        return np.asarray(generator.permuted(whole, axis=2, out=whole).sum(axis=1))


def _number_of_all(tables: Sequence[np.ndarray], kind: SignFlips | Reordered, most: int) -> int:
    """The number of all permutations, or 0 where they are more than `most`."""
    count = 1
    for _ in range(sum(map(len, tables))):
        count *= kind.ways
        if count > most:
            return 0
    return count


def _all(tables: Sequence[np.ndarray], kind: SignFlips | Reordered, count: int) -> Iterator[list[np.ndarray]]:
    """The sums of all permutations in blocks: the digits of their number, to the base of a query's ways, say which."""
    for numbers in _blocks(tables, count):
        block, left = [], numbers
        for rows in tables:
            digits = np.empty((len(numbers), len(rows)), dtype=int)
            for place in range(len(rows)):
                left, digits[:, place] = np.divmod(left, kind.ways)
            block.append(kind.sums(rows, digits))
        yield block


def _drawn(
    tables: Sequence[np.ndarray],
    kind: SignFlips | Reordered,
    count: int,
    generators: Sequence[np.random.Generator],
) -> Iterator[list[np.ndarray]]:
    """The sums of random permutations in blocks; each task has its own generator, so it does not depend on others."""
    for numbers in _blocks(tables, count):
        yield [kind.drawn(rows, len(numbers), one) for rows, one in zip(tables, generators, strict=True)]


def _blocks(tables: Sequence[np.ndarray], count: int) -> Iterator[np.ndarray]:
    size = max(1, _BLOCK // max(1, sum(rows.size for rows in tables)))
    for start in range(0, count, size):
        yield np.arange(start, min(start + size, count))
