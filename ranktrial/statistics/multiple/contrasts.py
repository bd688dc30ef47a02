"""The differences of a family, estimated: means of paired differences and their variances, over one task or several.

Reads and writes nothing. A table holds a task's values, one row per query and one column per system. Over T tasks a
difference is the unweighted mean of the tasks' differences, whatever their numbers of queries:

    D = sum_t D_t / T,    Var(D) = sum_t Var(D_t) / T^2,    Var(D_t) = sd(x - y)^2 / n_t

The tasks are taken as given (a stratified sample of queries); how effects vary over collections is for a meta-analysis.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_ROUNDING = 1e-12  # a variance below this share of the mean square is only rounding


class Contrasts(NamedTuple):
    """The differences of a family, by the columns of both systems: `system` minus `other`."""

    system: np.ndarray
    other: np.ndarray


class Task(NamedTuple):
    """The data from which differences on a task and their variances are computed, centred per query.

    `means` has one row per permutation and one column per system; `products` are the sums of products of two systems'
    values, the same for all permutations that only flip signs. `queries` is the number of all queries of the task.
    """

    means: np.ndarray
    products: np.ndarray
    queries: int


def all_pairs(systems: int) -> Contrasts:
    """Each system minus each one before it."""
    pairs = list(itertools.combinations(range(systems), 2))
    return Contrasts(np.array([later for _, later in pairs]), np.array([earlier for earlier, _ in pairs]))


def against(control: int, systems: int) -> Contrasts:
    """Each other system minus the control."""
    treatments = np.array([system for system in range(systems) if system != control])
    return Contrasts(treatments, np.full(len(treatments), control))


def varying_rows(table: np.ndarray) -> np.ndarray:
    """The rows of a table, each centred. Rows with the same value for all systems are left out: they contribute 0."""
    rows = table - table.mean(axis=1, keepdims=True)
    return np.asarray(rows[np.ptp(table, axis=1) > 0])


def observed(table: np.ndarray) -> Task:
    """A task without permutation."""
    rows = varying_rows(table)
    return Task(rows.sum(axis=0, keepdims=True) / len(table), rows.T @ rows, len(table))


def differences(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """D of each permutation and contrast."""
    system, other = contrasts
    return np.asarray(np.mean([task.means[:, system] - task.means[:, other] for task in tasks], axis=0))


def variances(tasks: Sequence[Task], contrasts: Contrasts) -> np.ndarray:
    """Var(D) of each permutation and contrast; 0 if a difference is the same on all queries, NaN for one query."""
    parts = [_variance_on_task(task, contrasts) for task in tasks]
    return np.asarray(np.sum(parts, axis=0) / len(tasks) ** 2)


def _variance_on_task(task: Task, contrasts: Contrasts) -> np.ndarray:
    if task.queries < 2:
        return np.full((len(task.means), len(contrasts.system)), np.nan)
    (i, j), squares = contrasts, np.diag(task.products)
    spread = (squares[i] + squares[j] - 2 * task.products[i, j]) / task.queries - differences([task], contrasts) ** 2
    return np.where(spread <= _ROUNDING * (squares[i] + squares[j]) / task.queries, 0, spread) / (task.queries - 1)
