"""The differences of a family, estimated: means of paired differences and their variances, over one task or several.

Reads and writes nothing. A table holds a task's values, a row a query and a column a system. Over T tasks a difference
is the plain mean of the tasks' differences, so that each task weighs the same whatever its number of queries:

    D = sum_t D_t / T,    Var(D) = sum_t Var(D_t) / T^2,    Var(D_t) = sd(x - y)^2 / n_t

The tasks are taken as given (a stratified sample of queries); how effects vary over collections is for a meta-analysis.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_ROUNDING = 1e-12  # a variance below this share of the mean square is that of equal numbers


class Contrasts(NamedTuple):
    """The differences of a family, by the columns of both systems: `system` less `other`."""

    system: np.ndarray
    other: np.ndarray


class Task(NamedTuple):
    """Permutations of a task's table, shape (permutations, rows, systems), each row less its mean.

    `queries` also counts those on which all systems have one value, whose rows are left out: they add 0 to everything.
    """

    values: np.ndarray
    queries: int


def all_pairs(systems: int) -> Contrasts:
    """Each system less each one before it."""
    pairs = list(itertools.combinations(range(systems), 2))
    return Contrasts(np.array([later for _, later in pairs]), np.array([earlier for earlier, _ in pairs]))


def against(control: int, systems: int) -> Contrasts:
    """Each other system less the control."""
    treatments = np.array([system for system in range(systems) if system != control])
    return Contrasts(treatments, np.full(len(treatments), control))


def centred(table: np.ndarray) -> Task:
    """A task's own values, without what all systems have in common on a query."""
    values = table - table.mean(axis=1, keepdims=True)
    varying = np.ptp(table, axis=1) > 0
    return Task(values[varying][np.newaxis], len(table))


def differences(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """D of each permutation and contrast."""
    means = [task.values.sum(axis=1) / task.queries for task in tasks]
    return np.asarray(np.mean([mean[:, contrasts.system] - mean[:, contrasts.other] for mean in means], axis=0))


def variances(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """Var(D) of each permutation and contrast; 0 where a difference is the same on all queries, NaN for one query."""
    parts = [_variance_on_task(task, contrasts) for task in tasks]
    return np.asarray(np.sum(parts, axis=0) / len(tasks) ** 2)


def _variance_on_task(task: Task, contrasts: Contrasts) -> np.ndarray:
    if task.queries < 2:
        return np.full((len(task.values), len(contrasts.system)), np.nan)
    products = np.matmul(task.values.transpose(0, 2, 1), task.values)
    squares = np.einsum("bii->bi", products)
    i, j = contrasts
    mean_square = (squares[:, i] + squares[:, j] - 2 * products[:, i, j]) / task.queries
    spread = mean_square - differences([task], contrasts) ** 2
    spread[spread <= _ROUNDING * (squares[:, i] + squares[:, j]) / task.queries] = 0
    return np.asarray(spread / (task.queries - 1))
