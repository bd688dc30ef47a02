"""Tests of one task's paired difference (t, randomisation, equivalence), its t interval, and corrections of p-values.

Smucker, Allan and Carterette (2007) compare the tests for retrieval and recommend the randomisation test, whose
reference distribution is that of sums under sign flips. Corrections for several hypotheses are those of Holm and of
Benjamini and Hochberg.

A system with several seeds has one value per query, the mean over its seeds, so that results are conditional on these
checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from ranktrial.statistics.measure_scale import within_reach
from ranktrial.statistics.paired import mean_difference
from ranktrial.statistics.summaries import Part, half_width, t_two_sided, upper_tail


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


def sums_with_still(rows: np.ndarray, still: np.ndarray, seed: int, permutations: int) -> FlippedSums:
    """The same where a flip of the columns that are `still` does not change the data: flips of the others are those of
    the test, with random ones of these, so that the test has the same p-value with both.
    """
    n = rows.shape[1]
    if not still.any() or (n < 63 and 2**n <= permutations):
        return flipped_sums(rows, seed, permutations)
    sums, exact = flipped_sums(rows[:, ~still], seed, permutations)
    sums = np.tile(sums, permutations // sums.shape[1])
    return FlippedSums(sums + _random_sums(rows[:, still], np.random.default_rng([seed, 1]), sums.shape[1]), exact)


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


@dataclass(frozen=True)
class TTest:
    """A paired t-test; if it has no result, all except `undefined` are None."""

    t: float | None = None
    df: float | None = None
    p_value: float | None = None
    log10_p: float | None = None
    undefined: str | None = None


@dataclass(frozen=True)
class Randomisation:
    """A randomisation test: `permutations` is the number sampled, or of all if `exact`."""

    p_value: float
    permutations: int
    exact: bool


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests against a margin.

    `p_equivalence` is for |true difference| < margin, `p_non_inferiority` for true difference > -margin ("not worse
    than the margin"); the (1 - 2 alpha) interval [ci_low, ci_high] lies within +-margin exactly where the first is
    below alpha. If there is no result, all except `margin` and `undefined` are None.
    """

    margin: float
    p_equivalence: float | None = None
    p_non_inferiority: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    undefined: str | None = None


def paired_t_test(treatment: np.ndarray, control: np.ndarray, ddof: int = 1) -> TTest:
    """Student's paired t-test, two-sided, of two vectors of shape (n,); the variance divides by n - ddof."""
    result = mean_difference(np.asarray(treatment, float), np.asarray(control, float), ddof)
    if isinstance(result, str):
        return TTest(undefined=result)
    return t_test_of(float(result[0]), [Part(result[1], len(treatment) - 1)])


def t_test_of(mean: float, parts: Sequence[Part]) -> TTest:
    """The t-test of a mean difference, that with the largest p-value of several estimates of its variance."""
    tests = [(mean / math.sqrt(part.variance), part.df) for part in parts]
    tail, t, df = max(((t_two_sided(t, df), t, df) for t, df in tests), key=lambda test: test[0].log10_p)
    return TTest(t, df, tail.p, tail.log10_p)


def randomisation_test(
    treatment: np.ndarray, control: np.ndarray, seed: int, permutations: int = 100_000
) -> Randomisation:
    """Fisher's paired randomisation test of the mean difference, two-sided, of two vectors of shape (n,).

    Under the null hypothesis each query's two values may be swapped, which flips the sign of its difference. All 2^n
    flips are enumerated if they are at most `permutations` (p = share of flips at least as extreme); else
    `permutations` are sampled and p = (b + 1) / (B + 1), which is never 0 (Phipson and Smyth 2010). A flip is as
    extreme as the data if it differs only by rounding. Random numbers are from NumPy's PCG64 with `seed`. Memory is of
    the order of `permutations`, whatever n.
    """
    difference = np.asarray(treatment, float) - np.asarray(control, float)
    difference = difference[difference != 0]  # a flip does not change a difference of 0
    n, total = len(difference), np.abs(difference).sum()
    extreme = abs(difference.sum()) - 2 * max(n, 1) * np.finfo(float).eps * total  # minus the error bound of both sums
    sums, exact = flipped_sums(difference[np.newaxis], seed, permutations)
    count, drawn = len(sums[0]), 0 if exact else 1
    return Randomisation(float((np.abs(sums[0]) >= extreme).sum() + drawn) / (count + drawn), count, exact)


def equivalence_test(
    treatment: np.ndarray, control: np.ndarray, margin: float, alpha: float = 0.05, ddof: int = 1
) -> Equivalence:
    """Two one-sided paired t-tests (TOST; Schuirmann 1987) against `margin` > 0, in units of the measure.

    Non-inferiority assumes that a higher value of the measure is better. The variance divides by n - `ddof`.
    """
    if not margin > 0:
        raise ValueError(f"the margin must be positive, not {margin}")
    result = mean_difference(np.asarray(treatment, float), np.asarray(control, float), ddof)
    if isinstance(result, str):
        return Equivalence(margin, undefined=result)
    return two_one_sided(float(result[0]), [Part(result[1], len(treatment) - 1)], margin, alpha)


def two_one_sided(mean: float, parts: Sequence[Part], margin: float, alpha: float = 0.05) -> Equivalence:
    """The two tests of a mean by Student's t, with the largest p-values of several estimates of its variance."""
    above, below = (upper_tail(margin + side, parts).p for side in (mean, -mean))
    half = max(half_width(part, 2 * alpha) for part in parts)
    return Equivalence(margin, max(above, below), above, mean - half, mean + half)


@dataclass(frozen=True)
class Difference:
    """Treatment minus control, its (1 - alpha) t interval and the two-sided paired t-test.

    All except the difference are None if there is no test: one query, or the same difference on every query.
    """

    difference: float
    ci_low: float | None
    ci_high: float | None
    t: float | None
    df: int | None
    p_value: float | None


def difference_of(treatment: np.ndarray, control: np.ndarray, alpha: float, reach: float | None) -> Difference:
    """The difference of two vectors with one value per query, in the same order of queries.

    The interval ends at `reach`, the largest difference that the measure allows, if it is known.
    """
    result = mean_difference(treatment, control, ddof=1)
    if isinstance(result, str):
        return Difference(float(np.mean(treatment - control)), *(None,) * 5)
    mean, variance = float(result[0]), float(result[1])
    df = len(treatment) - 1
    half = float(-scipy.special.stdtrit(df, alpha / 2)) * math.sqrt(variance)
    test = t_test_of(mean, [Part(variance, df)])
    low, high = (within_reach(end, reach) for end in (mean - half, mean + half))
    return Difference(mean, low, high, test.t, df, test.p_value)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's (1979) adjusted p-values, which control the family-wise error rate; None stays None and does not count."""

    def adjust(ordered: np.ndarray) -> np.ndarray:
        return np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1))

    return _adjusted(p_values, adjust)


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's (1995) adjusted p-values, which control the false discovery rate; None stays None."""

    def adjust(ordered: np.ndarray) -> np.ndarray:
        scaled = ordered * len(ordered) / np.arange(1, len(ordered) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjusted(p_values, adjust)


CORRECTIONS = {"holm": holm, "bh": benjamini_hochberg}  # their names in columns of tables


def over_hypotheses(
    p_values: Sequence[float | None],
    hypotheses: Sequence[str],
    adjust: Callable[[Sequence[float | None]], list[float | None]],
) -> list[float | None]:
    """Each p-value adjusted (by `adjust`, such as Holm) for the number of hypotheses, each of which counts once.

    Several p-values may be of the same hypothesis, on other scales. Each is adjusted among the other hypotheses, each
    of which enters with its largest p-value. None stays None and does not count.
    """
    largest: dict[str, float] = {}
    for p, hypothesis in zip(p_values, hypotheses, strict=True):
        if p is not None:
            largest[hypothesis] = max(p, largest.get(hypothesis, p))
    found = []
    for p, hypothesis in zip(p_values, hypotheses, strict=True):
        family = largest | {hypothesis: p}
        found.append(None if p is None else adjust(list(family.values()))[list(family).index(hypothesis)])
    return found


def _adjusted(p_values: Sequence[float | None], adjust: Callable[[np.ndarray], np.ndarray]) -> list[float | None]:
    """Adjust the p-values that are not None, passed to `adjust` in ascending order."""
    present = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    result: list[float | None] = [None] * len(p_values)
    values = np.minimum(adjust(np.array([p for p, _ in present])), 1) if present else []
    for (_, index), value in zip(present, values, strict=True):
        result[index] = float(value)
    return result
