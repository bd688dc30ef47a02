"""The summary including tasks on which every query has the same difference, and the influence of each task on it.

A difference that is the same for every query has no variance, so the task has no weight and is left out. If both
systems are the same there, leaving it out moves the summary away from 0: only tasks with a change count; if not, the
task on which they differ most surely is missing. Here these tasks get the mean variance of a query over the others,

    V_i = s^2 / n_i,    s^2 = sum (n_j - 1) n_j V_j / sum (n_j - 1) over the tasks j with an effect,

the pooled variance of an analysis of variance, with sum (n_j - 1) degrees of freedom. It is an assumption that queries
vary as much where no change was observed, so this is a sensitivity analysis and not the result. Everything else is as
in the summary: the covariance of the other tasks, collections, and seed variance. A task on which no query changed
shows neither covariance with others nor seed variance, and gets none.

The influence of each task on a random-effects summary: leave-one-out diagnostics and Baujat's plot. With M, tau2 and
V_M of all k tasks, an index -i for those without task i, and s2 = V_M sum W*, the scale of the interval (1 for a normal
one):

    rstudent   (Y_i - M_-i) / sqrt(s2_-i (V_i + tau2_-i) + V_M,-i)
    DFFITS     (M - M_-i) / sqrt(s2_-i h_i (V_i + tau2_-i))            h_i = W*_i / sum W*
    DFBETAS    (M - M_-i) / sqrt(s2_-i / sum 1 / (V + tau2_-i))        the sum is over all k tasks
    Cook's D   (M - M_-i)^2 / V_M                                      COVRATIO  V_M,-i / V_M
    Baujat     x = (Y_i - M)^2 / (V_i + tau2), y = (M - M_-i)^2 / V_M,-i

Viechtbauer and Cheung (2010), Outlier and influence diagnostics for meta-analysis, Research Synthesis Methods 1(2),
112-125; Baujat, Mahe, Pignon and Hill (2002), Statistics in Medicine 21(18), 2641-2652; as in metafor.

For dependent effects and effects with seed variance it is as above, with the summary of dependent_tasks.py, of all
tasks and without each. Omega is the covariance of all effects with the components estimated without task i; c'Y = Y_i -
M_-i with c = 1 at task i minus the weights of the others in M_-i, and V(c) is the variance of c'Y: s2 c'Omega c plus
seed variance (dependence.of_mean).

    rstudent   (Y_i - M_-i) / sqrt(V(c)); V(c) is smaller for a task that shares queries with others
    DFBETAS    (M - M_-i) / sqrt(V(w)), w the weights of all tasks under Omega, as metafor's dfbetas of an rma.mv
    Cook's D   (M - M_-i)^2 / V_M, as its cooks.distance             COVRATIO  V_M,-i / V_M
    Baujat     x = (Y_i - M)^2 / (V_i + tau2), y = (M - M_-i)^2 / V_M,-i

h is the task's weight. DFFITS, which for a mean is the same as DFBETAS except for the components, is left empty.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from ranktrial.statistics.dependence import Dependence, of_mean
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis, parts_of
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.independent_tasks import CONFIDENCE_DISTRIBUTION, MetaAnalysis, meta_analysis
from ranktrial.statistics.intervals import fit_of
from ranktrial.statistics.least_squares import omega_of, structures
from ranktrial.statistics.method import Method
from ranktrial.statistics.observed_tasks import EffectSize, dependence_of
from ranktrial.statistics.seeds import SeedEffects
from ranktrial.statistics.significance import two_one_sided
from ranktrial.statistics.summaries import Part, Summary, widest
from ranktrial.statistics.synthesise import synthesise
from ranktrial.statistics.task_results import TaskResult


@dataclass(frozen=True)
class Pooled:
    """The variance of one query's effect, pooled over the tasks that have one, with its degrees of freedom."""

    variance: float
    df: int


def pooled_variance(effects: Mapping[str, EffectSize]) -> Pooled | None:
    """The pooled variance of the defined effects; None if no task has one."""
    defined = [(effect.n, effect.variance) for effect in effects.values() if effect.variance is not None]
    df = sum(n - 1 for n, _ in defined)
    return Pooled(sum((n - 1) * n * variance for n, variance in defined) / df, df) if df else None


@dataclass(frozen=True)
class SameTask:
    """A task on which every query has this difference (0: both systems are the same), with the assumed variance, and
    tests against a margin, if any.
    """

    n: int
    effect: float
    variance: float
    p_equivalence: float | None = None
    p_non_inferiority: float | None = None


@dataclass(frozen=True)
class Sensitivity:
    """The summaries with all tasks: `tasks` are those on which every query has the same difference."""

    pooled: Pooled
    tasks: dict[str, SameTask]
    meta: MetaAnalysis
    fixed_mean: Summary


def sensitivity(
    results: Mapping[str, TaskResult],
    method: Method,
    corpora: Mapping[str, str] | None = None,
    seed_effects: Sequence[SeedEffects] = (),
) -> Sensitivity | None:
    """The summaries with all tasks; None if differences vary on every task, or no task has a variance.

    `corpora` by task and `seed_effects`, of all tasks in their order, are those of the comparison.
    """
    effects = {task: result.effect for task, result in results.items()}
    pooled = pooled_variance(effects)
    alike = {task: result.same for task, result in results.items() if result.same is not None}
    if not alike or pooled is None:
        return None
    same = {task: _same_task(effects[task].n, estimate, pooled, method) for task, estimate in alike.items()}
    observed = {task: result.observed for task, result in results.items()}
    for task, one in same.items():
        effects[task] = replace(effects[task], estimate=one.effect, variance=one.variance, undefined=None)
        observed[task] = replace(observed[task], effect=effects[task], df=pooled.df)
    dependence = dependence_of(observed, corpora or {}, seed_effects)
    assert dependence is not None  # these tasks have effects now
    defined = [task for task, effect in effects.items() if effect.variance is not None]
    counts = [None if task in same else own for task, own in zip(defined, dependence.counts, strict=True)]
    synthesis = synthesise(effects, method, dependence=replace(dependence, counts=tuple(counts)))
    assert synthesis.meta is not None and synthesis.fixed_mean is not None
    return Sensitivity(pooled, same, synthesis.meta, synthesis.fixed_mean)


def _same_task(n: int, estimate: float, pooled: Pooled, method: Method) -> SameTask:
    variance = pooled.variance / n
    if not (method.margin and effect_named(method.effect).IN_UNITS_OF_MEASURE):
        return SameTask(n, estimate, variance)
    gain = -estimate if method.lower_is_better else estimate
    tests = two_one_sided(gain, [Part(variance, pooled.df)], method.margin)
    return SameTask(n, estimate, variance, tests.p_equivalence, tests.p_non_inferiority)


MIN_TASKS = 3  # without one of them, heterogeneity can still be estimated


@dataclass(frozen=True)
class Influence:
    """One task's influence, on the scale of the synthesis; None if a variance of 0 leaves a number undefined.

    `without` is the meta-analysis of all other tasks. `influential` follows metafor's rule: |DFFITS| > 3 sqrt(1/(k-1)),
    or Cook's D beyond the median of chi2 with one degree of freedom, or h > 3/k, or |DFBETAS| > 1.
    """

    without: MetaAnalysis
    rstudent: float | None
    dffits: float | None
    dfbetas: float | None
    cooks_distance: float | None
    covariance_ratio: float | None
    hat: float
    baujat_x: float
    baujat_y: float | None
    influential: bool


def influences(
    estimates: np.ndarray, variances: np.ndarray, estimator: str, interval: str, alpha: float
) -> list[Influence]:
    """The influence of each of k >= 3 tasks, from `estimates` and sampling `variances` of shape (k,)."""
    y, v = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if len(y) < MIN_TASKS:
        raise ValueError(f"influence needs at least {MIN_TASKS} tasks, not {len(y)}")
    whole = meta_analysis(y, v, estimator, interval, alpha)
    others = [np.arange(len(y)) != task for task in range(len(y))]
    return [
        _influence(y, v, task, whole, meta_analysis(y[left], v[left], estimator, interval, alpha))
        for task, left in enumerate(others)
    ]


def _influence(y: np.ndarray, v: np.ndarray, task: int, whole: MetaAnalysis, without: MetaAnalysis) -> Influence:
    tau2 = without.tau2 or 0.0
    shift = whole.summary.effect - without.summary.effect
    scale = without.summary.variance * (1 / (np.delete(v, task) + tau2)).sum()
    residual = y[task] - without.summary.effect
    hat = whole.weights[task]
    dffits = ratio(shift, math.sqrt(scale * hat * (v[task] + tau2)))
    dfbetas = ratio(shift, math.sqrt(scale / (1 / (v + tau2)).sum()))
    deviation = scale * (v[task] + tau2) + without.summary.variance
    cook = ratio(shift**2, whole.summary.variance)
    return Influence(
        without=without,
        rstudent=ratio(residual, math.sqrt(deviation)),
        dffits=dffits,
        dfbetas=dfbetas,
        cooks_distance=cook,
        covariance_ratio=ratio(without.summary.variance, whole.summary.variance),
        hat=hat,
        baujat_x=float((y[task] - whole.summary.effect) ** 2 / (v[task] + (whole.tau2 or 0.0))),
        baujat_y=ratio(shift**2, without.summary.variance),
        influential=is_influential(dffits, dfbetas, cook, hat, len(y)),
    )


def is_influential(
    dffits: float | None, dfbetas: float | None, cooks_distance: float | None, hat: float, k: int
) -> bool:
    """Metafor's rule of thumb for a model with one coefficient; undefined values are ignored."""
    return (
        abs(dffits or 0.0) > 3 * math.sqrt(1 / (k - 1))
        or scipy.special.chdtr(1, cooks_distance or 0.0) > 0.5
        or hat > 3 / k
        or abs(dfbetas or 0.0) > 1
    )


def ratio(value: float, scale: float) -> float | None:
    """A quotient; None if the scale is 0."""
    return float(value / scale) if scale else None


def dependent_influences(
    estimates: np.ndarray, dependence: Dependence, estimator: str, interval: str, alpha: float
) -> list[Influence]:
    """The influence of each of k >= 3 tasks."""
    y, k = np.asarray(estimates, dtype=float), len(estimates)
    if k < MIN_TASKS:
        raise ValueError(f"influence needs at least {MIN_TASKS} tasks, not {k}")
    how = (estimator, interval, alpha, CONFIDENCE_DISTRIBUTION)
    whole = dependent_meta_analysis(y, dependence, *how)
    found = []
    for task in range(k):
        others = [other for other in range(k) if other != task]
        without = dependent_meta_analysis(y[others], dependence.of_subset(others), *how)
        found.append(_dependent_influence(y, dependence, task, whole, without, interval))
    return found


def _dependent_influence(
    y: np.ndarray, dependence: Dependence, task: int, whole: MetaAnalysis, without: MetaAnalysis, interval: str
) -> Influence:
    others = np.arange(len(y)) != task
    omega = _omega(dependence, without)
    collections = np.array(dependence.collections)[others].tolist()
    fit, block = fit_of(interval), np.ix_(others, others)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    of_others = fit(y[others], omega[block], collections, sampling[block])
    part = widest(parts_of(of_others, interval, len(structures(collections)))[1], without.alpha)
    scale = part.variance / of_others.variance
    contrast = np.eye(len(y))[task]
    contrast[others] = -of_others.weights
    deviation = _variance(contrast, scale, omega, dependence)
    shift = whole.summary.effect - without.summary.effect
    dfbetas = ratio(shift, math.sqrt(_variance(fit(y, omega).weights, scale, omega, dependence)))
    cook, hat = ratio(shift**2, whole.summary.variance), whole.weights[task]
    return Influence(
        without=without,
        rstudent=ratio(y[task] - without.summary.effect, math.sqrt(deviation)),
        dffits=None,
        dfbetas=dfbetas,
        cooks_distance=cook,
        covariance_ratio=ratio(without.summary.variance, whole.summary.variance),
        hat=hat,
        baujat_x=float((y[task] - whole.summary.effect) ** 2 / _omega(dependence, whole)[task, task]),
        baujat_y=ratio(shift**2, without.summary.variance),
        influential=is_influential(None, dfbetas, cook, hat, len(y)),
    )


def _omega(dependence: Dependence, meta: MetaAnalysis) -> np.ndarray:
    """The covariance of all effects over queries and tasks with the components of `meta`."""
    z = structures(dependence.collections)
    components = meta.tau2_levels or (meta.tau2 or 0.0,)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    return omega_of(sampling, z[: len(components)], components[: len(z)])


def _variance(weights: np.ndarray, scale: float, omega: np.ndarray, dependence: Dependence) -> float:
    """The variance of the sum of effects with these weights, with seed variance."""
    model = float(weights @ omega @ weights)
    return of_mean(Part(scale * model, math.inf), model, dependence, weights).variance
