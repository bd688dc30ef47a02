"""Moderators and subgroups of a comparison's effects; reads and writes nothing.

Each moderator is fitted alone and, if there are several, all of them together. Subgroups are the model with one
categorical moderator: one summary per group with a common tau2 (metafor's `rma(mods = ~ factor)`; Borenstein et al.
2009, chapter 19), and QM is the test between groups. The dependence between effects is that of the comparison's
summary; only the permutation test treats tasks as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ranktrial.common.keys import INLINE
from ranktrial.statistics.corrections import holm
from ranktrial.statistics.dependence import Dependence
from ranktrial.statistics.design_matrix import Design, Value, design_of, is_category, levels, obstacle
from ranktrial.statistics.heterogeneity import without_rounding
from ranktrial.statistics.least_squares import orthonormal
from ranktrial.statistics.meta_regression import (
    UNMODIFIED,
    MetaRegression,
    PermutationTest,
    dependent_meta_regression,
    meta_regression,
    permutation_test,
    too_few_collections,
)
from ranktrial.statistics.method import Method
from ranktrial.statistics.summaries import Summary

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
    return FittedModel(
        coefficients=_coefficients(design, fit, test.of_coefficients),
        tau2=fit.tau2,
        tau2_of_all=fit.tau2_of_all,
        r2=fit.r2,
        i2=fit.i2,
        h2=fit.h2,
        qe=fit.qe,
        qe_df=fit.qe_df,
        qe_p_value=fit.qe_p_value,
        qm=fit.qm,
        qm_df=fit.qm_df,
        qm_p_value=fit.qm_p_value,
        df=fit.qm_error_df,
        estimator=fit.estimator,
        permutations=test.permutations,
        exact=test.exact,
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
    p_values = [None, *permuted]
    return tuple(
        _coefficient(term, fit.coefficient(number), p_values[number]) for number, term in enumerate(design.terms)
    )


def _coefficient(term: str, found: Summary, permutation_p_value: float | None) -> Coefficient:
    return Coefficient(
        term=term,
        estimate=found.effect,
        variance=found.variance,
        se=found.se,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        df=found.df,
        p_value=found.p_value,
        log10_p=found.log10_p,
        permutation_p_value=permutation_p_value,
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
