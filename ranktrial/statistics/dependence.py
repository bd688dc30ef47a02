"""The dependence between the effects of a comparison's tasks: their covariance and the parts that seeds add.

The covariance of the effects of tasks that partly share queries or clusters of queries.

E_iu is the sum of the influence (observed_tasks.py) that the queries of unit u have on the effect of task i. Two tasks
of one corpus are correlated through the units that they share,

    r_il = sum_u E_iu E_lu / sqrt(sum_u E_iu^2 sum_u E_lu^2),    S_il = r_il sqrt(V_i V_l),

the sandwich estimate for effects that are functions of sample means (Liang and Zeger 1986, Biometrika 73(1), 13-22),
with the variances V_i of the effects on the diagonal. r is a matrix of cosines, so S is never indefinite. Units of
different corpora are different.

The dependence between the effects of a comparison's tasks.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ranktrial.statistics.least_squares import structures
from ranktrial.statistics.seeds import SeedEffects, seeds_parts
from ranktrial.statistics.summaries import Part, total

SMALLEST_EIGENVALUE = 1e-3  # of r: below it, tasks are nearly the same, and weights would be differences of noise


def covariance(
    variances: Sequence[float], unit_sums: Sequence[Mapping[Hashable, float] | None], corpora: Sequence[str]
) -> np.ndarray:
    """S, shape (k, k). `unit_sums` are E_i by unit, None for a task with unknown influence of queries."""
    k = len(variances)
    correlation = np.eye(k)
    for i in range(k):
        for second in range(i + 1, k):
            a, b = unit_sums[i], unit_sums[second]
            if a is not None and b is not None and corpora[i] == corpora[second]:
                correlation[i, second] = correlation[second, i] = _cosine(a, b)
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    if smallest < SMALLEST_EIGENVALUE:
        correlation += (SMALLEST_EIGENVALUE - smallest) / (1 - SMALLEST_EIGENVALUE) * np.eye(k)
        correlation /= correlation[0, 0]
    root = np.sqrt(np.asarray(variances, dtype=float))
    matrix: np.ndarray = correlation * np.outer(root, root)
    np.fill_diagonal(matrix, variances)  # to the last digit
    return matrix


def _cosine(a: Mapping[Hashable, float], b: Mapping[Hashable, float]) -> float:
    shared = sum(value * b[unit] for unit, value in a.items() if unit in b)
    lengths = sum(v**2 for v in a.values()) * sum(v**2 for v in b.values())
    return shared / lengths**0.5 if lengths else 0.0


def is_diagonal(matrix: np.ndarray) -> bool:
    """Whether no two effects are correlated."""
    return not (matrix - np.diag(np.diag(matrix))).any()


class Counts(NamedTuple):
    """The number of queries of a task, and of its sampling units: the queries, or clusters of them."""

    queries: int
    units: int


@dataclass(frozen=True)
class Dependence:
    """Of k tasks: the covariance of their effects over queries, shape (k, k), with the degrees of freedom of each
    variance; the number of each one's collection; and the seed effects of both systems (none: seeds are
    taken as given). `shrunk`: variances of small tasks are not their own (small_tasks.py). `counts` are those of tasks
    whose variance is that of one query divided by their number, None for others; empty where nothing is to be shrunk.
    """

    sampling: np.ndarray
    degrees: tuple[float, ...]
    collections: tuple[int, ...]
    seed_effects: tuple[SeedEffects, ...] = ()
    shrunk: bool = False
    counts: tuple[Counts | None, ...] = ()

    @property
    def independent(self) -> bool:
        """Whether tasks share neither queries nor, if there are enough collections for a level, a collection."""
        return is_diagonal(self.sampling) and len(structures(self.collections)) == 1

    @property
    def variances(self) -> np.ndarray:
        """The variance of each effect over queries and unshared seed effects, shape (k,)."""
        variances: np.ndarray = np.diag(self.sampling) + self.seed_variance_of_tasks_alone
        return variances

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the effects over queries and seeds, shape (k, k)."""
        total = self.sampling.copy()
        for seed_effect in self.seed_effects:
            total += seed_effect.matrix()
        return total

    @property
    def seed_variance_of_tasks_alone(self) -> np.ndarray:
        """The seed variance in each effect that no other task shares, shape (k,)."""
        alone = np.zeros(len(self.degrees))
        for seed_effect in self.seed_effects:
            alone += seed_effect.of_tasks_alone()
        return alone

    def of_subset(self, tasks: Sequence[int]) -> Dependence:
        """The same for a subset of the tasks, by position."""
        seed_effects = tuple(seed_effect.of_subset(tasks) for seed_effect in self.seed_effects)
        degrees = tuple(self.degrees[task] for task in tasks)
        collections = tuple(self.collections[task] for task in tasks)
        counts = tuple(self.counts[task] for task in tasks) if self.counts else ()
        sampling = self.sampling[np.ix_(tasks, tasks)]
        return Dependence(sampling, degrees, collections, seed_effects, self.shrunk, counts)

    def of_task(self, task: int, over_queries: Part | None = None) -> Part:
        """The variance of one task's effect over queries and seeds; `over_queries` replaces the part of queries."""
        weights = np.zeros(len(self.degrees))
        weights[task] = 1.0
        part = over_queries or Part(float(self.sampling[task, task]), self.degrees[task])
        return total([part, *seeds_parts(self.seed_effects, weights)])


def of_mean(part: Part, model_variance: float, dependence: Dependence, weights: np.ndarray) -> Part:
    """The variance of the mean of the tasks and its degrees of freedom (Satterthwaite), with seed variance.

    `part` is the variance by the chosen interval, computed from the variance `model_variance` of the effects' mean with
    `weights`, which includes V + tau2 and the unshared seed variance. The seeds' parts include the latter as well, so
    it is subtracted.
    """
    alone = float((weights**2 * dependence.seed_variance_of_tasks_alone).sum())
    between = max(model_variance - alone, 0.0) * part.variance / model_variance
    return total([Part(between, part.df), *seeds_parts(dependence.seed_effects, weights)])
