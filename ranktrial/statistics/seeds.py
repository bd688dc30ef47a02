"""Several seeds of a system: their mean per query, their spread, and the part of an effect's variance that is theirs.

The model is the crossed two-way random-effects model with one observation per cell,

    value(query, seed) = mean + query + seed + (query x seed),

whose variance components are the ANOVA estimators (Searle, Casella and McCulloch 1992, Variance Components, chapter 4;
Brennan 2001, Generalizability Theory, chapter 2, the p x i design). A given seed's value for a given query is fixed, so
the residual is all query x seed: noise of training, as the seed component is.

The effect of one task and the mean of several follow the same model. The mean of seed s over the queries of task i
differs from the mean of all seeds by L_is: the seed effect, which a task shares with all others that the same
checkpoint ranks. Over the m seeds L has the covariance B = sum_s L_s L_s' / (m - 1) between tasks, with m - 1 degrees
of freedom. A checkpoint that enters the effects with the shares a (1/m on each task for each of m seeds) adds to the
variance of sum_i w_i D_i

    sum over checkpoints c of (w a_c)' (B - R) (w a_c),    at least 0,

for m seeds on every task w'(B - R)w / m. R is the diagonal matrix of residual_i / n_i: B includes this query x seed
noise, which the variance over queries also includes. Since w'Bw is the sample variance of m numbers, it has m - 1
degrees of freedom exactly (Searle, Casella and McCulloch 1992, Variance Components, chapter 4).

In a comparison, a system with several seeds on some task has its own estimate. A system that was trained once borrows
that of another system. If control and treatment rank with the same checkpoints, the seed effect is that of their
difference.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import scipy

from ranktrial.statistics.summaries import Part, total


@dataclass(frozen=True)
class SeedSpread:
    """One system over its seeds. `seed_means` is the mean measure of each seed, `sd` their standard deviation.

    `query`, `seed` and `residual` are the variance components, 0 where the estimate is negative. With one seed (or one
    query) they and `sd` are None.
    """

    mean: float
    seed_means: tuple[float, ...]
    sd: float | None
    query: float | None
    seed: float | None
    residual: float | None


@dataclass(frozen=True)
class EffectVariance:
    """Where the variance of a mean difference comes from.

    `sampling` is its variance over queries given the seeds (it holds the residual's part); `total` adds what other
    seeds would add; `seeds` is the part of training noise in the total (seed and residual components of both
    systems), and `seed_share` = seeds / total, None if the total is 0.
    """

    sampling: float
    seeds: float
    total: float
    seed_share: float | None


def average(values: np.ndarray) -> np.ndarray:
    """The mean over the seeds of `values`, shape (queries, seeds): one value per query."""
    means: np.ndarray = _matrix(values).mean(axis=1)
    return means


def seed_spread(values: np.ndarray) -> SeedSpread:
    """Describe the seeds of one system from its per-query `values` of shape (queries, seeds)."""
    x = _matrix(values)
    n, m = x.shape
    means = x.mean(axis=0)
    if m < 2 or n < 2:
        return SeedSpread(float(x.mean()), tuple(means.tolist()), None, None, None, None)
    residuals = x - x.mean(axis=1, keepdims=True) - means + x.mean()
    ms_residual = float((residuals**2).sum()) / ((n - 1) * (m - 1))
    ms_seed = n * float(means.var(ddof=1))
    ms_query = m * float(x.mean(axis=1).var(ddof=1))
    return SeedSpread(
        mean=float(x.mean()),
        seed_means=tuple(means.tolist()),
        sd=math.sqrt(ms_seed / n),
        query=max(0.0, (ms_query - ms_residual) / m),
        seed=max(0.0, (ms_seed - ms_residual) / n),
        residual=ms_residual,
    )


def effect_variance(treatment: np.ndarray, control: np.ndarray, ddof: int = 1) -> EffectVariance:
    """Split the variance of the mean difference of two systems, of shapes (queries, seeds of each), over its sources.

    Both systems' seeds are independent, so each adds seed / m to the variance over queries, which holds
    residual / (n m) of each already (the variance of a mean over both, Brennan 2001, chapter 2). A system
    with one seed adds nothing: this is exact for a deterministic system, such as BM25, and a lower bound for others.
    The variance over queries divides by n - `ddof`, as that of the effect; components are unbiased in any case.
    """
    x, y = _matrix(treatment), _matrix(control)
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"treatment and control must have the same queries, at least 2, not {len(x)} and {len(y)}")
    sampling = float((x.mean(axis=1) - y.mean(axis=1)).var(ddof=ddof)) / len(x)
    between = within = 0.0
    for values in (x, y):
        spread, (n, m) = seed_spread(values), values.shape
        if spread.seed is not None:
            between += spread.seed / m
            within += spread.residual / (n * m)
    total = sampling + between
    seeds = min(between + within, total)  # the estimate of the residual may exceed the variance that holds it
    return EffectVariance(sampling, seeds, total, seeds / total if total else None)


def sd_interval(sd: float, df: float, alpha: float) -> tuple[float, float]:
    """The (1 - alpha) interval of a standard deviation between seeds: sd sqrt(df / chi2) at both quantiles."""
    low, high = scipy.special.chdtri(df, alpha / 2), scipy.special.chdtri(df, 1 - alpha / 2)
    return sd * math.sqrt(df / low), sd * math.sqrt(df / high)


def _matrix(values: np.ndarray) -> np.ndarray:
    x = np.asarray(values, dtype=float)
    if x.ndim != 2 or not x.size or not np.isfinite(x).all():
        raise ValueError(f"expected a finite matrix of queries x seeds, not one of shape {x.shape}")
    return x


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


CONTROL, TREATMENT = "control", "treatment"
DIFFERENCE = "difference"  # role of control and treatment that rank with the same checkpoints

Values = Mapping[str, np.ndarray]  # by task, each of shape (queries, seeds)


@dataclass(frozen=True)
class SeedsFrom:
    """The source of the seed variance of a role: the `values` of another system, or its own (None).

    `checkpoints` names the training for each task, if tasks have separate trainings: seed effects of different
    trainings are independent.
    """

    name: str
    values: Values | None = None
    checkpoints: Mapping[str, Hashable] = field(default_factory=dict)


def own_seeds(control: Values, treatment: Values) -> dict[str, SeedsFrom]:
    """The roles with several seeds on some task, each with its own."""
    values = {CONTROL: control, TREATMENT: treatment}
    return {role: SeedsFrom(role) for role, own in values.items() if any(x.shape[1] > 1 for x in own.values())}


def seed_effects_of(
    sources: Mapping[str, SeedsFrom], control: Values, treatment: Values, per_unit: Mapping[str, float]
) -> dict[str, SeedEffects]:
    """The known seed effects by role (control, treatment or difference); `per_unit` by task, in the tasks' order.

    `sources` names the roles that are trained.
    """
    tasks = list(per_unit)
    values = {CONTROL: control, TREATMENT: treatment}
    if DIFFERENCE in sources:
        values[DIFFERENCE] = {task: treatment[task] - control[task] for task in tasks}
    scale = np.array(list(per_unit.values()))
    seed_effects = {}
    for role, seeds in sources.items():
        own = values[role]
        source = seed_source(seeds.name, own if seeds.values is None else seeds.values, tasks)
        if source is not None:
            shares = shares_of([own[task].shape[1] for task in tasks])
            seed_effects[role] = SeedEffects(source, shares, scale, _groups(seeds, tasks))
    return seed_effects


def _groups(seeds: SeedsFrom, tasks: Sequence[str]) -> np.ndarray:
    """A number for each task, the same for tasks ranked by the same checkpoints."""
    trained = [seeds.checkpoints.get(task) for task in tasks]
    numbers = {names: number for number, names in enumerate(dict.fromkeys(trained))}
    return np.array([numbers[names] for names in trained])
