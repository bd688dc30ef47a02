"""Moderators and subgroups of a comparison's effects; reads and writes nothing.

Each moderator is fitted alone and, if there are several, all of them together. Subgroups are the model with one
categorical moderator: one summary per group with a common tau2 (metafor's `rma(mods = ~ factor)`; Borenstein et al.
2009, chapter 19), and QM is the test between groups. The dependence between effects is that of the comparison's
summary; only the permutation test treats tasks as independent.

Meta-regression is a mixed-effects model of the effects of k tasks on moderators,

Y = X b + u + e, Var u = tau2 (residual), Var e = V. b = (X'WX)^-1 X'WY with W = 1 / (V + tau2). Berkey, Hoaglin,
Mosteller and Colditz (1995), A random-effects regression model for meta-analysis; Viechtbauer (2010). Tests compare
every number with metafor's `rma(mods=)`.

| quantity | formula |
|---|---|
| QE, df = k - p | y'Py at tau2 = 0, against chi2: residual heterogeneity |
| QM | the m coefficients except the intercept, b' Cov(b)^-1 b, chi2(m); Knapp and Hartung: F = QM / m, df m, k - p |
| Cov(b) | scale (X'WX)^-1; scale 1, or of Knapp and Hartung (2003): q = y'Py / (k - p), at least 1 unless unmodified |
| R2 | 100 max(0, (tau2 of all - tau2) / tau2 of all): the share of the variance between tasks that moderators explain |
| I2, H2 | 100 tau2 / (tau2 + s2), tau2 / s2 + 1, s2 = (k - p) / tr P at tau2 = 0 |

The permutation test permutes the rows of moderators over the tasks. If effects do not depend on moderators, all
assignments of their values to tasks are equally likely. Each permutation is fitted like the data, with its own tau2; p
is the share of permutations whose test statistic is at least the observed one. Higgins and Thompson (2004), Controlling
the risk of spurious findings from meta-regression; as metafor's `permutest`. Exact if there are at most `most` distinct
permutations, else a seeded sample with p = (b + 1) / (B + 1) (Phipson and Smyth 2010).

Dependent effects and effects with seed variance: for tasks that share nothing, it is that of independent tasks; else
generalised least squares with the covariance and the levels of the summary (dependent_tasks.py), tau2 by restricted
maximum likelihood given the moderators: metafor's rma.mv(V, mods = ). A coefficient is a weighted sum of the effects,
like the summary, so seed variance is added to it in the same way, with its weights (dependence.of_mean). A seed effect
that all tasks share moves the intercept and not a slope.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import scipy

from ranktrial.common.keys import INLINE
from ranktrial.common.projection import filled
from ranktrial.statistics.dependence import Dependence, of_mean
from ranktrial.statistics.design_matrix import Design, Value, design_of, is_category, levels, obstacle
from ranktrial.statistics.estimators import residual_estimator
from ranktrial.statistics.estimators.reml import NAME as ESTIMATOR
from ranktrial.statistics.heterogeneity import weighted_mean, without_rounding
from ranktrial.statistics.least_squares import (
    gls_regression,
    omega_of,
    orthonormal,
    projection,
    reml,
    residual_q,
    structures,
    trace_p,
    weighted_fit,
)
from ranktrial.statistics.method import Method
from ranktrial.statistics.significance import holm
from ranktrial.statistics.summaries import Part, Summary, chi2_upper, part_summary

NORMAL, UNMODIFIED = "normal", "knapp-hartung-unmodified"  # intervals; any other is that of Knapp and Hartung, modified


@dataclass(frozen=True)
class MetaRegression:
    """A fitted model. `covariance` (p, p) is that of the coefficients; `weights` (k,) sum to 1; `df` None is normal.

    Coefficients are `linear` (p, k) times the effects, and `covariance` is `scale` times that of the model. With
    `dependence` its seed variance is part of a coefficient's summary and of QM, and not of `covariance`. `df` are
    those given the seeds, `qm_error_df` those of QM's F, None for chi2.
    """

    k: int
    p: int
    alpha: float
    coefficients: np.ndarray
    covariance: np.ndarray
    df: int | None
    weights: np.ndarray
    tau2: float
    tau2_of_all: float
    qe: float
    qe_df: int
    qe_p_value: float
    qm: float
    qm_df: int
    qm_p_value: float
    i2: float
    h2: float
    linear: np.ndarray
    scale: float
    estimator: str
    qm_error_df: float | None
    dependence: Dependence | None = None

    @property
    def r2(self) -> float | None:
        """The share of tau2 that the moderators explain, in percent; None if there is none to explain."""
        return None if not self.tau2_of_all else 100 * max(0.0, 1 - self.tau2 / self.tau2_of_all)

    def at(self, row: np.ndarray) -> Summary:
        """The mean effect for this row of a design, or the contrast of coefficients with these weights."""
        effect, variance = float(row @ self.coefficients), float(row @ self.covariance @ row)
        part = Part(variance, math.inf if self.df is None else self.df)
        if self.dependence is not None:
            part = of_mean(part, variance / self.scale, self.dependence, row @ self.linear)
        return part_summary(effect, part, self.alpha)

    def coefficient(self, number: int) -> Summary:
        """One coefficient with its interval and test."""
        return self.at(np.eye(self.p)[number])


def meta_regression(
    design: np.ndarray, y: np.ndarray, variances: np.ndarray, estimator: str, interval: str, alpha: float
) -> MetaRegression:
    """Fit the effects `y` with sampling `variances` (k,) to a design (k, p) of full rank, k > p, its first column ones.

    estimator: of the residual tau2; interval: of the comparison's summary.
    """
    k, p = design.shape
    q, r = orthonormal(design)
    residual_tau2 = residual_estimator(estimator).residual_tau2
    tau2 = float(residual_tau2(q, y, variances))
    fit = weighted_fit(q, y, 1 / (variances + tau2))
    scale, df = scale_of(interval, np.asarray((fit.residuals**2 / (variances + tau2)).sum() / (k - p))), k - p
    back = np.linalg.inv(r)
    coefficients, covariance = back @ fit.coefficients, float(scale) * back @ fit.covariance @ back.T
    qe, typical = float(residual_q(q, y, 1 / variances)), df / float(trace_p(q, 1 / variances))
    error_df = None if interval == NORMAL else df
    tested = tested_together(float(wald(coefficients[1:], covariance[1:, 1:])), p - 1, error_df)
    constant = np.full((k, 1), k**-0.5)
    weights = 1 / (variances + tau2)
    return MetaRegression(
        k=k,
        p=p,
        alpha=alpha,
        coefficients=coefficients,
        covariance=covariance,
        df=error_df,
        weights=weights / weights.sum(),
        tau2=tau2,
        tau2_of_all=float(residual_tau2(constant, y, variances)),
        qe=qe,
        qe_df=df,
        qe_p_value=chi2_upper(qe, df).p,
        qm=tested[0],
        qm_df=p - 1,
        qm_p_value=tested[1],
        i2=100 * tau2 / (tau2 + typical),
        h2=tau2 / typical + 1,
        linear=back @ (fit.covariance @ (q * weights[:, None]).T),
        scale=float(scale),
        estimator=estimator,
        qm_error_df=error_df,
    )


def tested_together(qm: float, m: int, df: float | None) -> tuple[float, float]:
    """The statistic of the test of m coefficients from b' Cov(b)^-1 b, and its p-value: F, or chi2 without `df`."""
    return (qm, chi2_upper(qm, m).p) if df is None else (qm / m, float(scipy.special.fdtrc(m, df, qm / m)))


def scale_of(interval: str, q: np.ndarray) -> np.ndarray:
    """The factor of (X'WX)^-1, from q = y'Py / (k - p)."""
    if interval == NORMAL:
        return np.ones_like(q)
    return q if interval == UNMODIFIED else np.maximum(1.0, q)


def wald(coefficients: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """b' Cov(b)^-1 b, of (..., m) coefficients."""
    solved = np.linalg.solve(covariance, coefficients[..., None])[..., 0]
    return np.asarray((coefficients * solved).sum(axis=-1))


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


def dependent_meta_regression(
    design: np.ndarray, y: np.ndarray, dependence: Dependence, estimator: str, interval: str, alpha: float
) -> MetaRegression:
    """Fit the effects `y` (k,) to a design (k, p); see `meta_regression` for the rest."""
    if dependence.independent:
        fit = meta_regression(design, y, dependence.variances, estimator, interval, alpha)
    else:
        fit = _generalised(design, y, dependence, interval, alpha)
    return _with_seeds(fit, dependence) if dependence.seed_effects else fit


def too_few_collections(dependence: Dependence, p: int) -> str | None:
    """Why there are too few collections for a model with p coefficients, as text; None if there are enough."""
    collections = len(set(dependence.collections))
    if len(structures(dependence.collections)) == 1 or collections > p:
        return None
    return f"the tasks are of {collections} corpora; a model with {p} coefficients needs at least {p + 1}"


def _generalised(
    design: np.ndarray, y: np.ndarray, dependence: Dependence, interval: str, alpha: float
) -> MetaRegression:
    """By generalised least squares, given the seeds. Degrees of freedom are of collections if these are a level."""
    k, p = design.shape
    q, r = orthonormal(design)
    sampling = dependence.sampling + np.diag(dependence.seed_variance_of_tasks_alone)
    z = structures(dependence.collections, q)
    components = reml(y, sampling, z, q)
    omega = omega_of(sampling, z, components)
    fit, back = gls_regression(y, q, omega), np.linalg.inv(r)
    scale = float(scale_of(interval, np.asarray(fit.q / (k - p))))
    df = k - p if len(z) == 1 else min(k - p, len(set(dependence.collections)) - p)
    coefficients, covariance = back @ fit.coefficients, scale * back @ fit.covariance @ back.T
    qe, typical = gls_regression(y, q, sampling).q, (k - p) / float(np.trace(projection(sampling, q)))
    qm, tau2, weights = float(wald(coefficients[1:], covariance[1:, 1:])), sum(components), 1 / np.diag(omega)
    tested = tested_together(qm, p - 1, None if interval == NORMAL else df)
    return MetaRegression(
        k=k,
        p=p,
        alpha=alpha,
        coefficients=coefficients,
        covariance=covariance,
        df=None if interval == NORMAL else df,
        weights=weights / weights.sum(),
        tau2=tau2,
        tau2_of_all=sum(reml(y, sampling, structures(dependence.collections))),
        qe=qe,
        qe_df=k - p,
        qe_p_value=chi2_upper(qe, k - p).p,
        qm=tested[0],
        qm_df=p - 1,
        qm_p_value=tested[1],
        i2=100 * tau2 / (tau2 + typical),
        h2=tau2 / typical + 1,
        linear=back @ fit.linear,
        scale=scale,
        estimator=ESTIMATOR,
        qm_error_df=None if interval == NORMAL else df,
    )


def _with_seeds(fit: MetaRegression, dependence: Dependence) -> MetaRegression:
    """The fit with seed variance in each coefficient and in the test of all."""
    fit = replace(fit, dependence=dependence)
    tested = [fit.coefficient(number) for number in range(1, fit.p)]
    degrees = [one.df for one in tested if one.df is not None]
    if len(tested) == 1:
        qm = float(tested[0].effect ** 2 / tested[0].variance)
    else:
        covariance = fit.covariance + fit.linear @ _seed_covariance(dependence, fit.scale) @ fit.linear.T
        qm = float(wald(fit.coefficients[1:], covariance[1:, 1:]))
    df = min(degrees, default=None)
    statistic, p_value = tested_together(qm, fit.p - 1, df)
    return replace(fit, qm=statistic, qm_p_value=p_value, qm_error_df=df)


def _seed_covariance(dependence: Dependence, scale: float) -> np.ndarray:
    """The shared seed covariance of the effects, (k, k), beyond the unshared part that the fit includes."""
    alone = scale * np.diag(dependence.seed_variance_of_tasks_alone)
    added: np.ndarray = dependence.covariance - dependence.sampling - alone
    return added


LINE_POINTS = 61  # of a regression line and its band
Moderators = Mapping[str, Sequence[Value]]  # the values of the tasks by label


@dataclass(frozen=True)
class Effects:
    """The tasks with an effect: estimates and sampling variances (k,) on the scale of the synthesis.

    `dependence` is theirs, None for independent tasks and given seeds. `reported` converts a value to the reported
    scale.
    """

    tasks: tuple[str, ...]
    estimates: np.ndarray
    variances: np.ndarray
    reported: Callable[[float], float] = float
    dependence: Dependence | None = None

    @property
    def permuted_variances(self) -> np.ndarray:
        """The variances by which the permutation test weights tasks."""
        return self.variances if self.dependence is None else self.dependence.variances


@dataclass(frozen=True)
class Coefficient:
    """A coefficient on the scale of the synthesis, with its interval and tests; the intercept is not permuted."""

    term: str
    estimate: float
    variance: float
    se: float
    ci_low: float
    ci_high: float
    df: float | None
    p_value: float | None
    log10_p: float | None
    permutation_p_value: float | None


@dataclass(frozen=True)
class LinePoint:
    """The mean effect, on the reported scale, at the value x of a moderator."""

    x: float
    effect: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class Level:
    """The k tasks of a level, and their mean effect on the reported scale."""

    k: int
    summary: Annotated[Summary, INLINE]


@dataclass(frozen=True)
class FittedModel:
    """The numbers of a fitted model. With one moderator also the content of its figure: its `line`, or its `levels`.

    `df` are the error degrees of freedom of QM, None for chi2. `qm_p_holm` is adjusted for the number of moderators
    that were fitted alone.
    """

    coefficients: tuple[Coefficient, ...]
    tau2: float
    tau2_of_all: float
    r2: float | None
    i2: float
    h2: float
    qe: float
    qe_df: int
    qe_p_value: float
    qm: float
    qm_df: int
    qm_p_value: float
    df: float | None
    estimator: str
    permutations: int
    exact: bool
    permutation_p_value: float
    permuted_as_independent: bool
    weights: dict[str, float]
    levels: dict[str, Level] | None = None
    line: tuple[LinePoint, ...] | None = None
    qm_p_holm: float | None = None


@dataclass(frozen=True)
class Model:
    """A model of k tasks; a model that cannot be fitted has a `problem` instead of `fit`."""

    moderators: tuple[str, ...]
    k: int
    problem: str | None
    fit: Annotated[FittedModel | None, INLINE] = None


@dataclass(frozen=True)
class Subgroups:
    """The groups of all tasks and the model with them, whose levels are the subtotals."""

    label: str
    tasks: dict[str, list[str]]
    model: Annotated[Model, INLINE]


def models(effects: Effects, moderators: Moderators, method: Method) -> list[Model]:
    """Each moderator's model, and the one with all; `moderators` are values of the tasks by label.

    If several single moderators could be fitted, their p-values of QM are also adjusted for their number.
    """
    single = _adjusted([model(effects, {label: values}, method) for label, values in moderators.items()])
    return [*single, model(effects, moderators, method)] if len(moderators) > 1 else single


def _adjusted(single: list[Model]) -> list[Model]:
    p_values = [one.fit.qm_p_value if one.fit else None for one in single]
    if sum(p is not None for p in p_values) < 2:
        return single
    return [
        replace(one, fit=replace(one.fit, qm_p_holm=p)) if one.fit else one
        for one, p in zip(single, holm(p_values), strict=True)
    ]


def model(effects: Effects, moderators: Moderators, method: Method) -> Model:
    """One model, or why it cannot be fitted."""
    labels, k = tuple(moderators), len(effects.tasks)
    problem = obstacle(moderators) or _no_fit(design_of(moderators), effects, method)
    return Model(labels, k, problem, None if problem else _fitted(effects, moderators, method))


def _no_fit(design: Design, effects: Effects, method: Method) -> str | None:
    """Why a design cannot be fitted; None if it can."""
    if effects.dependence and (few := too_few_collections(effects.dependence, len(design.terms))):
        return few
    if method.interval == UNMODIFIED and exactly_fitted(design.matrix, effects):
        return f"the effects follow the model exactly, which leaves {UNMODIFIED} no residual"
    return None


def _fitted(effects: Effects, moderators: Moderators, method: Method) -> FittedModel:
    design = design_of(moderators)
    fit, test = _fit(design, effects, method), _permuted(design, effects, method)
    alone = next(iter(moderators.values())) if len(moderators) == 1 else None
    words = alone is not None and is_category(alone)
    return filled(
        FittedModel,
        fit,
        test,
        coefficients=_coefficients(design, fit, test.of_coefficients),
        df=fit.qm_error_df,
        permutation_p_value=test.p_value,
        permuted_as_independent=effects.dependence is not None,
        weights=dict(zip(effects.tasks, fit.weights.tolist(), strict=True)),
        levels=_levels(fit, alone, effects) if alone is not None and words else None,
        line=_line(fit, alone, effects) if alone is not None and not words else None,
    )


def _permuted(design: Design, effects: Effects, method: Method) -> PermutationTest:
    how = (method.estimator, method.interval, method.permutations, method.seed)
    return permutation_test(design.matrix, effects.estimates, effects.permuted_variances, *how)


def exactly_fitted(design: np.ndarray, effects: Effects) -> bool:
    """Whether the effects differ from those of a design (k, p) only by rounding."""
    columns, _ = orthonormal(design)
    residuals = effects.estimates - columns @ (columns.T @ effects.estimates)
    return not without_rounding(residuals, effects.estimates, effects.variances).any()


def subgroups(effects: Effects, label: str, groups: Mapping[str, str], method: Method) -> Subgroups:
    """The groups of all tasks (`groups`: task -> group) and the model with them."""
    words = list(dict.fromkeys(groups.values()))
    tasks = {word: [task for task, own in groups.items() if own == word] for word in words}
    return Subgroups(label, tasks, model(effects, {label: [groups[task] for task in effects.tasks]}, method))


def _fit(design: Design, effects: Effects, method: Method) -> MetaRegression:
    """The model of the effects, with their dependence."""
    how = (method.estimator, method.interval, method.alpha)
    if effects.dependence is None:
        return meta_regression(design.matrix, effects.estimates, effects.variances, *how)
    return dependent_meta_regression(design.matrix, effects.estimates, effects.dependence, *how)


def _coefficients(design: Design, fit: MetaRegression, permuted: Sequence[float]) -> tuple[Coefficient, ...]:
    """Each coefficient with its interval and tests."""
    found = [fit.coefficient(number) for number in range(fit.p)]
    return tuple(
        filled(Coefficient, one, term=term, estimate=one.effect, permutation_p_value=p)
        for term, one, p in zip(design.terms, found, [None, *permuted], strict=True)
    )


def _levels(fit: MetaRegression, values: Sequence[Value], effects: Effects) -> dict[str, Level]:
    """The summary of each level, as reported: intercept, or intercept and the level's coefficient."""
    found = {}
    for number, level in enumerate(levels(values)):
        row = np.zeros(fit.p)
        row[[0, number]] = 1.0
        found[level] = Level(list(values).count(level), _reported(fit.at(row), effects))
    return found


def _line(fit: MetaRegression, values: Sequence[Value], effects: Effects) -> tuple[LinePoint, ...]:
    """The fitted effect, on the reported scale, with its interval at points between the smallest and largest value."""
    numbers = np.array(values, dtype=float)
    points = np.linspace(numbers.min(), numbers.max(), LINE_POINTS)
    shown = [(x, _reported(fit.at(np.array([1.0, x])), effects)) for x in points.tolist()]
    return tuple(LinePoint(x, at.effect, at.ci_low, at.ci_high) for x, at in shown)


def _reported(summary: Summary, effects: Effects) -> Summary:
    effect, low, high = (effects.reported(end) for end in (summary.effect, summary.ci_low, summary.ci_high))
    return replace(summary, effect=effect, ci_low=low, ci_high=high)
