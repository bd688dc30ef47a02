"""Variance between training seeds in the effect of one task and in the mean of several.

A system's value is that of the crossed model, value(query, seed) = mean + query + seed + query x seed. The mean of seed
s over the queries of task i differs from the mean of all seeds by L_is: the seed effect, which a task shares with all
others that the same checkpoint ranks. Over the m seeds L has the covariance B = sum_s L_s L_s' / (m - 1) between tasks,
with m - 1 degrees of freedom. A checkpoint that enters the effects with the shares a (1/m on each task for each of m
seeds) adds to the variance of sum_i w_i D_i

    sum over checkpoints c of (w a_c)' (B - R) (w a_c),    at least 0,

for m seeds on every task w'(B - R)w / m. R is the diagonal matrix of residual_i / n_i: B includes this query x seed
noise, which the variance over queries also includes. Since w'Bw is the sample variance of m numbers, it has m - 1
degrees of freedom exactly (Searle, Casella and McCulloch 1992, Variance Components, chapter 4). Reads and writes
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ranktrial.statistics.least_squares.satterthwaite import Part, total
from ranktrial.statistics.task.seeds import seed_spread


@dataclass(frozen=True)
class SeedSource:
    """Several checkpoints of one system and the covariance of their seed effects on the tasks of a comparison.

    `covariance` is B and `residual` is R, both of shape (k, k), of the measure.
    """

    name: str
    seeds: int
    covariance: np.ndarray
    residual: np.ndarray

    @property
    def interaction(self) -> float:
        """The seed variance that tasks do not share: the mean of B - R on the diagonal minus that off it."""
        between = self.covariance - self.residual
        k = len(between)
        if k < 2:
            return 0.0
        variance = np.trace(between) / k
        common = max(0.0, (between.sum() - np.trace(between)) / (k * (k - 1)))
        return max(0.0, float(variance - common))


@dataclass(frozen=True)
class SeedEffects:
    """The contribution of one system's seed effects to the effects of tasks.

    `shares`, shape (k, checkpoints): the share of each checkpoint in a task's effect. `per_unit`, shape (k,): the
    change of the effect for a difference of 1 in the measure. `groups`, shape (k,): tasks with the same number are
    ranked by the same checkpoints; seed effects of different groups are independent.
    """

    source: SeedSource
    shares: np.ndarray
    per_unit: np.ndarray
    groups: np.ndarray

    def variances(self, weights: np.ndarray) -> list[float]:
        """The variance that the seed effects of each group of tasks add to sum_i weights_i D_i."""
        between = self.source.covariance - self.source.residual
        found = []
        for group in np.unique(self.groups):
            scaled = (weights * self.per_unit * (self.groups == group))[:, None] * self.shares
            found.append(max(0.0, float(np.einsum("ic,ij,jc->", scaled, between, scaled))))
        return found

    def spread(self, weights: np.ndarray) -> Part:
        """The variance between seeds of sum_i weights_i D_i for one seed each, with its degrees of freedom."""
        scaled = weights * self.per_unit
        of_groups = [scaled * (self.groups == group) for group in np.unique(self.groups)]
        df = self.source.seeds - 1
        return total([Part(float(part @ self.source.covariance @ part), df) for part in of_groups])

    def matrix(self) -> np.ndarray:
        """The covariance that seed effects add to the effects, shape (k, k), its negative eigenvalues 0."""
        scaled = self.per_unit[:, None] * self.shares
        between = np.einsum("ic,ij,jc->ij", scaled, self.source.covariance - self.source.residual, scaled)
        between = between * (self.groups[:, None] == self.groups)
        values, vectors = np.linalg.eigh(between)
        found: np.ndarray = (vectors * np.maximum(values, 0)) @ vectors.T
        return found

    def of_tasks_alone(self) -> np.ndarray:
        """The seed variance of each effect that is not shared with other tasks, shape (k,)."""
        shared = np.array([(self.groups == group).sum() > 1 for group in self.groups])
        between = np.diag(self.source.covariance - self.source.residual)
        variance = np.where(shared, self.source.interaction, np.maximum(between, 0))
        alone: np.ndarray = variance * self.per_unit**2 * (self.shares**2).sum(axis=1)
        return alone

    def of_subset(self, tasks: Sequence[int]) -> SeedEffects:
        """The same for a subset of the tasks."""
        picked = np.ix_(tasks, tasks)
        source = SeedSource(
            self.source.name, self.source.seeds, self.source.covariance[picked], self.source.residual[picked]
        )
        chosen = list(tasks)
        return SeedEffects(source, self.shares[chosen], self.per_unit[chosen], self.groups[chosen])


def seed_source(name: str, values: Mapping[str, np.ndarray], tasks: Sequence[str]) -> SeedSource | None:
    """The seed effects of one system on `tasks`, from its `values` by task, each of shape (queries, seeds).

    On a task without several seeds, a checkpoint's seed effect is set to its mean over the tasks with several. Tasks
    have the same seeds in the same order; None if no task has two seeds and two queries.
    """
    several = {task: x for task, x in values.items() if x.shape[1] > 1 and len(x) > 1}
    if not several:
        return None
    seeds = {x.shape[1] for x in several.values()}
    if len(seeds) != 1:
        raise ValueError(f"{name}: tasks have different numbers of seeds: {sorted(seeds)}")
    known, m = list(several), seeds.pop()
    deviations = np.stack([x.mean(axis=0) - x.mean() for x in several.values()])  # (known, seeds)
    covariance = deviations @ deviations.T / (m - 1)
    residual = np.array([(seed_spread(x).residual or 0.0) / len(x) for x in several.values()])
    own = np.eye(len(known))
    elsewhere = np.full(len(known), 1 / len(known))
    extension = np.stack([own[known.index(task)] if task in several else elsewhere for task in tasks])
    return SeedSource(name, m, extension @ covariance @ extension.T, extension @ np.diag(residual) @ extension.T)


def shares_of(seeds: Sequence[int]) -> np.ndarray:
    """The shares of checkpoints, shape (k, checkpoints), from the number of seeds of a system on each task.

    A task with one seed, if others have several, is ranked by one selected checkpoint.
    """
    shares = np.zeros((len(seeds), max(seeds)))
    for task, count in enumerate(seeds):
        shares[task, :count] = 1 / count
    return shares


def seeds_parts(seed_effects: Sequence[SeedEffects], weights: np.ndarray) -> list[Part]:
    """The seed parts of the variance of sum_i weights_i D_i: one for each source of seed variance.

    Groups of tasks with separate checkpoints have one part each, since their seed variances are estimated separately.
    """
    variances: dict[tuple[str, int], float] = {}
    degrees: dict[tuple[str, int], int] = {}
    for seed_effect in seed_effects:
        for group, variance in enumerate(seed_effect.variances(weights)):
            key = (seed_effect.source.name, group)
            variances[key] = variances.get(key, 0.0) + variance
            degrees[key] = seed_effect.source.seeds - 1
    return [Part(variances[key], degrees[key]) for key in variances]
