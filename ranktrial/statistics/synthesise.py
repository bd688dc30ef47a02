"""The synthesis of one comparison: the tasks with an effect, their summary, and its dependence on each task.

Undefined effects are left out with a
warning; effects that are reported on another scale than that of the synthesis (r, combined as Fisher's z) are converted
back here.

Shrinkage of the variances of tasks with few queries towards that of all tasks.

The variance of a few queries may be small by chance, together with the effect, if they are easy or did not change: a
task with two queries may get the largest weight, dominate the mean, and contribute to Q without bound. Smyth (2004),
Linear models and empirical Bayes methods for assessing differential expression, Statistical Applications in Genetics
and Molecular Biology 3(1), article 3:

    V_i' = (df_i s_i^2 + d_0 s^2) / (df_i + d_0) / n_i,    s_i^2 = n_i V_i,    s^2 = sum df_i s_i^2 / sum df_i,

for tasks of fewer than 50 queries (or clusters of them). The prior degrees of freedom d_0 are his estimate: with
psi the digamma function and the k values e_i = log s_i^2 - psi(df_i / 2) + log(df_i / 2),

    psi'(d_0 / 2) = sum (e_i - mean)^2 / (k - 1) - mean of psi'(df_i / 2),

infinite if the right side is not above 0. So variances that agree are pooled, and those that truly differ are left
alone. Effects whose variance is not that of one query divided by their number (of a correlation, 1 / (n - 3); with a
model's part) take no part.

The mean effect on these collections: tasks are strata of equal weight.

Cochran (1977), Sampling Techniques, chapter 5: with the estimates Y of k tasks and their sampling covariance S,

    M = sum Y / k,    V = 1'S1 / k^2,

a t interval with the degrees of freedom of Welch and Satterthwaite. Tasks are taken as given, so differences between
them are not a source of uncertainty; queries are, and so are seeds if they are treated as random, which never narrow
the interval. Tasks whose effects covary are one part of V, with the smallest of their degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from ranktrial.statistics.dependence import Counts, Dependence
from ranktrial.statistics.dependent_tasks import dependent_meta_analysis
from ranktrial.statistics.effects import effect_named, reported_within
from ranktrial.statistics.estimators import dl, reml
from ranktrial.statistics.independent_tasks import MetaAnalysis
from ranktrial.statistics.intervals import equal_weights, knapp_hartung, normal
from ranktrial.statistics.method import DEFAULTS, Method
from ranktrial.statistics.observed_tasks import EffectSize
from ranktrial.statistics.seeds import seeds_parts
from ranktrial.statistics.summaries import Part, Summary, widest_summary, with_seeds
from ranktrial.statistics.task_intervals import TaskInterval

SHRUNK = "shrunk"
FEW = 50


def prior_degrees(of_query: np.ndarray, degrees: np.ndarray) -> float:
    """d_0 of the variances of one query with their degrees of freedom, both of shape (k,), k >= 2."""
    half = degrees / 2
    e = np.log(of_query) - scipy.special.digamma(half) + np.log(half)
    between = float(e.var(ddof=1) - scipy.special.polygamma(1, half).mean())
    return 2 * _inverse_trigamma(between) if between > 0 else math.inf


def _inverse_trigamma(value: float) -> float:
    """x with psi'(x) = value > 0, by Newton's method on 1 / psi', which is nearly linear (Smyth 2004, appendix)."""
    x = 0.5 + 1 / value
    while True:
        trigamma = float(scipy.special.polygamma(1, x))
        step = trigamma * (1 - trigamma / value) / float(scipy.special.polygamma(2, x))
        x += step
        if abs(step) <= 1e-12 * x:
            return x


def shrunk(variances: np.ndarray, degrees: np.ndarray, queries: np.ndarray, units: np.ndarray) -> np.ndarray:
    """V', of sampling variances with their degrees of freedom, numbers of queries and of clusters, all (k,), k >= 2."""
    of_query = queries * variances
    pooled = (degrees * of_query).sum() / degrees.sum()
    prior = prior_degrees(of_query, degrees)
    expected = pooled if math.isinf(prior) else (degrees * of_query + prior * pooled) / (degrees + prior)
    return np.where(units < FEW, expected / queries, variances)


def with_shrunk_variances(dependence: Dependence) -> Dependence:
    """The same effects with these variances and unchanged correlations; unchanged if no task is small."""
    counted = [(task, counts) for task, counts in enumerate(dependence.counts) if counts is not None]
    if len(counted) < 2 or all(counts.units >= FEW for _, counts in counted):
        return dependence
    own, places = np.diag(dependence.sampling), [task for task, _ in counted]
    queries, units = (
        np.array(numbers, dtype=float) for numbers in zip(*(counts for _, counts in counted), strict=True)
    )
    variances = own.copy()
    variances[places] = shrunk(own[places], np.array(dependence.degrees)[places], queries, units)
    scale = np.sqrt(variances / own)
    sampling = dependence.sampling * np.outer(scale, scale)
    np.fill_diagonal(sampling, variances)  # to the last digit
    return replace(dependence, sampling=sampling, shrunk=True)


def fixed_mean(estimates: np.ndarray, dependence: Dependence, alpha: float) -> Summary:
    """The mean of `estimates`, shape (k,), k >= 1, with its (1 - alpha) interval."""
    weights = np.full(len(estimates), 1 / len(estimates))
    of_queries = _sampling_parts(dependence, weights)
    parts = with_seeds(of_queries, seeds_parts(dependence.seed_effects, weights))
    return widest_summary(float(np.mean(estimates)), parts, alpha)


def _sampling_parts(dependence: Dependence, weights: np.ndarray) -> list[Part]:
    """The part of each set of covarying tasks in the variance of the weighted mean."""
    count, label = scipy.sparse.csgraph.connected_components(dependence.sampling != 0)
    contribution = weights[:, None] * dependence.sampling * weights
    degrees = np.array(dependence.degrees)
    members = [label == number for number in range(count)]
    return [Part(float(contribution[np.ix_(one, one)].sum()), float(degrees[one].min())) for one in members]


INVERSE_VARIANCE = "inverse-variance"  # DerSimonian and Laird's, each task with its own variance, as Ranger does
WEIGHTINGS = (INVERSE_VARIANCE, knapp_hartung.NAME, equal_weights.NAME)


@dataclass(frozen=True)
class Synthesis:
    """The result of a comparison.

    `meta` is None if no task has an effect. `weights` names the tasks with an effect, in the order given; `estimates`
    and `dependence` are theirs, on the scale of the synthesis. `fixed_mean` is the equally weighted mean of these
    tasks, taken as given (fixed_mean.py), each with its own variance; None if `meta` is. `of` is the meta-analysis of a
    subset of these tasks, `fixed_mean_of` their mean taken as given, `weighed` the summary with another weighting.
    Effects, their intervals and prediction intervals are as reported, within what the measure allows; variances,
    standard errors and tau2 are on the scale of the synthesis (for a correlation, Fisher's z).
    """

    effect_type: str
    meta: MetaAnalysis | None
    fixed_mean: Summary | None
    weights: dict[str, float]
    estimates: np.ndarray
    dependence: Dependence
    warnings: tuple[str, ...]
    of: Callable[[Sequence[str]], MetaAnalysis]
    fixed_mean_of: Callable[[Sequence[str]], Summary]
    weighed: Callable[[str], Summary]

    @cached_property
    def leave_one_out(self) -> dict[str, MetaAnalysis]:
        """Task -> the meta-analysis of all others; empty for fewer than two tasks."""
        tasks = list(self.weights)
        return {one: self.of([task for task in tasks if task != one]) for one in tasks if len(tasks) > 1}

    @cached_property
    def fixed_mean_without(self) -> dict[str, Summary]:
        """Task -> the mean of all others, taken as given; empty for fewer than two tasks."""
        tasks = list(self.weights)
        others = {one: [task for task in tasks if task != one] for one in tasks if len(tasks) > 1}
        return {one: self.fixed_mean_of(of) for one, of in others.items()}

    @cached_property
    def weightings(self) -> dict[str, Summary]:
        """The summary with each other common weighting, by name; empty for fewer than two tasks."""
        if self.meta is None or self.meta.k < 2:
            return {}
        own = {normal.NAME: INVERSE_VARIANCE}.get(self.meta.interval, self.meta.interval)
        return {name: self.weighed(name) for name in WEIGHTINGS if name != own}

    @cached_property
    def cumulative(self) -> dict[str, MetaAnalysis]:
        """Task -> the meta-analysis of it and all before it."""
        tasks = list(self.weights)
        return {task: self.of(tasks[: position + 1]) for position, task in enumerate(tasks)}


def synthesise(
    effects: Mapping[str, EffectSize],
    method: Method = DEFAULTS,
    task_intervals: Mapping[str, TaskInterval | None] | None = None,
    dependence: Dependence | None = None,
) -> Synthesis:
    """Combine the effects of tasks, all of the method's type.

    The summary of a single task has the task's own interval from `task_intervals` (a normal one without it).
    `dependence` is that of the tasks with a defined effect, in their order; None for independent tasks and given seeds.
    """
    defined = {task: effect for task, effect in effects.items() if effect.variance is not None}
    known = dependence or independent(list(defined.values()))
    combine = _Combining(
        tasks=tuple(defined),
        estimates=np.array([effect.estimate for effect in defined.values()], dtype=float),
        known=known,
        weighed=with_shrunk_variances(known) if method.small_tasks == SHRUNK else known,
        method=method,
        task_intervals=task_intervals or {},
    )
    tasks = combine.tasks
    meta = combine.of(tasks) if tasks else None
    left_out = [f"{task}: left out, {effect.undefined}" for task, effect in effects.items() if effect.undefined]
    return Synthesis(
        effect_type=method.effect,
        meta=meta,
        fixed_mean=combine.fixed_mean(meta) if meta else None,
        estimates=combine.estimates,
        dependence=combine.weighed,
        weights=dict(zip(tasks, meta.weights, strict=True)) if meta else {},
        warnings=(*left_out, *summary_warnings(meta, method)),
        of=combine.of,
        fixed_mean_of=combine.fixed_mean_of,
        weighed=combine.weighed_by,
    )


@dataclass(frozen=True)
class _Combining:
    """What is combined: the tasks with an effect, their dependence with their own variances (`known`) and as they are
    weighed, and how.
    """

    tasks: tuple[str, ...]
    estimates: np.ndarray
    known: Dependence
    weighed: Dependence
    method: Method
    task_intervals: Mapping[str, TaskInterval | None]

    @property
    def reported(self) -> Callable[[float], float]:
        """Convert from the scale of the synthesis to the reported scale."""
        return reported_within(self.method.effect, self.method.reach)

    def of(self, tasks: Sequence[str]) -> MetaAnalysis:
        """The meta-analysis of a subset of the tasks, on the reported scale."""
        chosen = [self.tasks.index(task) for task in tasks]
        subset = (self.weighed if len(tasks) > 1 else self.known).of_subset(chosen)
        how = (self.method.estimator, self.method.interval, self.method.alpha, self.method.prediction)
        meta = dependent_meta_analysis(self.estimates[chosen], subset, *how)
        own = self.task_intervals.get(tasks[0]) if meta.k == 1 else None
        return _as_reported(of_one_task(meta, own) if own else meta, self.reported)

    def fixed_mean(self, meta: MetaAnalysis) -> Summary:
        """The fixed mean on the reported scale; for a single task, the summary."""
        if meta.k == 1:
            return meta.summary
        return self.fixed_mean_of(self.tasks)

    def fixed_mean_of(self, tasks: Sequence[str]) -> Summary:
        """The mean of a subset of the tasks, taken as given, on the reported scale."""
        chosen = [self.tasks.index(task) for task in tasks]
        mean = fixed_mean(self.estimates[chosen], self.known.of_subset(chosen), self.method.alpha)
        return _reported(mean, self.reported)

    def weighed_by(self, name: str) -> Summary:
        """The summary with a weighting, on the reported scale."""
        known, ways = self.weighed, (reml.NAME, name)
        if name == INVERSE_VARIANCE:
            known, ways = self.known, (dl.NAME, normal.NAME)
        found = dependent_meta_analysis(self.estimates, known, *ways, self.method.alpha, self.method.prediction)
        return _reported(found.summary, self.reported)


def independent(effects: Sequence[EffectSize]) -> Dependence:
    """The dependence of defined effects that share nothing, with seeds as given."""
    variances = [effect.variance for effect in effects]
    pooled = [effect_named(effect.effect_type).HAS_DIFFERENCE for effect in effects]
    return Dependence(
        sampling=np.diag(np.array(variances, dtype=float)),
        degrees=tuple(effect.n - 1.0 for effect in effects),
        collections=tuple(range(len(effects))),
        counts=tuple(Counts(effect.n, effect.n) if own else None for effect, own in zip(effects, pooled, strict=True)),
    )


def of_one_task(meta: MetaAnalysis, own: TaskInterval) -> MetaAnalysis:
    """The summary of one task with the task's own interval and p-value."""
    given_seeds = _summary_of(meta, own.given_seeds) if own.given_seeds else None
    return replace(meta, interval=own.kind, summary=_summary_of(meta, own), given_seeds=given_seeds)


def _summary_of(meta: MetaAnalysis, own: TaskInterval) -> Summary:
    """The summary of an interval; one by resampling takes the seeds as given, as does its variance."""
    ends = {name: getattr(own, name) for name in ("ci_low", "ci_high", "df", "p_value", "log10_p")}
    return own.summary or replace(meta.given_seeds or meta.summary, **ends)


def summary_warnings(meta: MetaAnalysis | None, method: Method) -> list[str]:
    """Warnings about the summary of some tasks, as text; the only task is its own."""
    if meta is None:
        return ["no task has an effect: there is no summary"]
    return [] if meta.k == 1 else tau2_warnings(meta) + other_methods(meta, method.estimator, method.interval)


def tau2_warnings(meta: MetaAnalysis) -> list[str]:
    """Warnings about tau2 of at least two tasks and its interval, as text."""
    if meta.tau2 is None or meta.tau2_ci is None:
        return []
    low, high = meta.tau2_ci
    if high == 0:
        return ["the effects differ less than sampling error alone would make them: the interval of tau2 is [0, 0]"]
    if low <= meta.tau2 <= high:
        return []
    inside = "; that of PM lies inside" if meta.estimator != "PM" else ""
    ends = f"{100 * (1 - meta.alpha):.10g}% Q-profile interval [{low:.3g}, {high:.3g}]"
    return [f"tau2 {meta.tau2:.3g} ({meta.estimator}) lies outside its own {ends}{inside}"]


def other_methods(meta: MetaAnalysis, estimator: str, interval: str) -> list[str]:
    """The methods that differ from the configured ones because tasks are dependent, as text."""
    asked = {estimator: meta.estimator, interval: meta.interval}
    return [
        f"{wanted} is for tasks that do not depend on one another as these do: it is {used} instead"
        for wanted, used in asked.items()
        if wanted != used
    ]


def _reported(summary: Summary, reported: Callable[[float], float]) -> Summary:
    """The effect and interval of a summary on the scale they are reported on."""
    effect, low, high = reported(summary.effect), reported(summary.ci_low), reported(summary.ci_high)
    return replace(summary, effect=effect, ci_low=low, ci_high=high)


def _as_reported(meta: MetaAnalysis, reported: Callable[[float], float]) -> MetaAnalysis:
    """The effects and intervals of a meta-analysis on the scale they are reported on."""
    prediction = meta.prediction_interval
    return replace(
        meta,
        summary=_reported(meta.summary, reported),
        fixed=_reported(meta.fixed, reported),
        given_seeds=_reported(meta.given_seeds, reported) if meta.given_seeds else None,
        prediction_interval=(reported(prediction[0]), reported(prediction[1])) if prediction else None,
    )
