"""The permutation test of a meta-regression: the rows of moderators are permuted over the tasks.

Reads and writes nothing. If effects do not depend on moderators, all assignments of their values to tasks are equally
likely. Each permutation is fitted like the data, with its own tau2; p is the share of permutations whose test statistic
is at least the observed one. Higgins and Thompson (2004), Controlling the risk of spurious findings from
meta-regression; as metafor's `permutest`. Exact if there are at most `most` distinct permutations, else a seeded sample
with p = (b + 1) / (B + 1) (Phipson and Smyth 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ranktrial.statistics.estimators import residual_estimator
from ranktrial.statistics.least_squares.weighted import orthonormal, weighted_fit
from ranktrial.statistics.meta_analysis.heterogeneity import weighted_mean, without_rounding
from ranktrial.statistics.meta_regression.independent import scale_of, wald

_CHUNK = 200  # permutations that are fitted at once
_EQUAL = 1e-9  # relative; equal fits differ by rounding


@dataclass(frozen=True)
class PermutationTest:
    """p-values of all moderators together and of each coefficient except the intercept."""

    permutations: int
    exact: bool
    p_value: float
    of_coefficients: tuple[float, ...]


def permutation_test(
    design: np.ndarray, y: np.ndarray, variances: np.ndarray, estimator: str, interval: str, most: int, seed: int
) -> PermutationTest:
    """Test the moderators of a design (k, p), whose first column is ones.

    Equal effects have the same statistics in each permutation, 0 but for rounding: p is 1.
    """
    constant = not without_rounding(y - weighted_mean(y, 1 / variances), y, variances).any()
    q, r = orthonormal(design)
    back = np.linalg.inv(r)

    def statistics(orders: np.ndarray) -> np.ndarray:
        """|t| of each moderator's coefficient, and QM, of the fits with the rows of the design in these orders."""
        designs = q[orders]
        tau2 = residual_estimator(estimator).residual_tau2(designs, y, variances)
        weights = 1 / (variances + tau2[:, None])
        fit = weighted_fit(designs, y, weights)
        scale = scale_of(interval, (weights * fit.residuals**2).sum(axis=-1) / (len(y) - design.shape[1]))
        coefficients = (fit.coefficients @ back.T)[:, 1:]
        covariance = scale[:, None, None] * (back @ fit.covariance @ back.T)[:, 1:, 1:]
        se = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
        return np.column_stack([np.abs(coefficients) / se, wald(coefficients, covariance)])

    groups = np.unique(design, axis=0, return_inverse=True)[1].ravel()
    exact = distinct(groups) <= most
    orders = np.array(list(arrangements(groups))) if exact else sampled(len(y), most, seed)
    if constant:
        return PermutationTest(len(orders), exact, 1.0, (1.0,) * (design.shape[1] - 1))
    observed = statistics(np.arange(len(y))[None])[0]
    parts = [statistics(orders[start : start + _CHUNK]) for start in range(0, len(orders), _CHUNK)]
    reached = (np.concatenate(parts) >= observed * (1 - _EQUAL)).sum(axis=0)
    p_values = reached / len(orders) if exact else (reached + 1) / (len(orders) + 1)
    return PermutationTest(len(orders), exact, float(p_values[-1]), tuple(map(float, p_values[:-1])))


def distinct(groups: np.ndarray) -> int:
    """The number of distinct arrangements of group numbers."""
    return math.factorial(len(groups)) // math.prod(math.factorial(count) for count in np.bincount(groups).tolist())


def arrangements(groups: np.ndarray) -> Iterator[list[int]]:
    """An order of the rows for each distinct arrangement of their groups."""
    rows = [list(np.flatnonzero(groups == group)) for group in range(int(groups.max()) + 1)]
    remaining = [len(members) for members in rows]
    order: list[int] = []

    def deal() -> Iterator[list[int]]:
        if len(order) == len(groups):
            yield order.copy()
        for group, members in enumerate(rows):
            if remaining[group]:
                remaining[group] -= 1
                order.append(int(members[remaining[group]]))
                yield from deal()
                order.pop()
                remaining[group] += 1

    return deal()


def sampled(k: int, number: int, seed: int) -> np.ndarray:
    """Random orders of k rows, (number, k)."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(k), (number, 1)), axis=1)
