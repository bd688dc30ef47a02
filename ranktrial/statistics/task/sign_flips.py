"""Sums under sign flips, the reference distribution of the randomisation test; reads and writes nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class FlippedSums(NamedTuple):
    """Sums under sign flips, shape (rows, flips); `exact` if these are all flips."""

    sums: np.ndarray
    exact: bool


def flipped_sums(rows: np.ndarray, seed: int, permutations: int) -> FlippedSums:
    """The sums of each row of `rows`, shape (rows, n), under the same flips of the signs of its columns.

    All 2^n flips if they are at most `permutations`, else as many random ones. Memory does not grow with n.
    """
    n = rows.shape[1]
    if n < 63 and 2**n <= permutations:
        return FlippedSums(_all_sums(rows), True)
    return FlippedSums(_random_sums(rows, np.random.default_rng(seed), permutations), False)


def _all_sums(rows: np.ndarray) -> np.ndarray:
    """The sums of each row under all 2^n sign flips, shape (rows, 2^n)."""
    sums = np.zeros((len(rows), 1))
    for column in rows.T[:, :, np.newaxis]:
        sums = np.concatenate([sums + column, sums - column], axis=1)
    return sums


def _random_sums(rows: np.ndarray, generator: np.random.Generator, count: int) -> np.ndarray:
    """The sums of each row under `count` random sign flips, shape (rows, count).

    Eight columns at a time: a random byte has their signs, and a table of 256 entries has the sum for each byte.
    """
    sums = np.zeros((len(rows), count))
    for start in range(0, rows.shape[1], 8):
        part = rows[:, start : start + 8]
        table = _all_sums(np.pad(part, ((0, 0), (0, 8 - part.shape[1]))))
        sums += table[:, generator.integers(0, 256, size=count, dtype=np.uint8)]
    return sums
