"""What moderators and subgroups say of the effects of a comparison, as the records of moderators/{comparison}.json.

Reads and writes nothing. Each moderator is fitted alone and, where there are several, all of them together. Subgroups
are the model with one categorical moderator: one summary per group with one tau2 in common (metafor's `rma(mods = ~
factor)`; Borenstein et al. 2009, chapter 19), and QM is the test between groups. What the comparison's summary knows of
how effects depend on one another holds here as well; the permutation test alone takes tasks as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from scripts.statistics.dependence.structure import Dependence
from scripts.statistics.least_squares.weighted import orthonormal
from scripts.statistics.meta_analysis.heterogeneity import without_rounding
from scripts.statistics.meta_analysis.summaries import Summary
from scripts.statistics.meta_regression.dependent import dependent_meta_regression, too_few_collections
from scripts.statistics.meta_regression.design import Design, Value, design_of, is_category, levels, obstacle
from scripts.statistics.meta_regression.independent import UNMODIFIED, MetaRegression, meta_regression
from scripts.statistics.meta_regression.permutation import permutation_test
from scripts.statistics.method import Method
from scripts.statistics.multiple.corrections import holm

LINE_POINTS = 61  # of a regression line and its band


@dataclass(frozen=True)
class Effects:
    """The tasks with an effect: estimates and sampling variances (k,) on the scale of the synthesis.

    `dependence` is theirs, None for independent tasks and given seeds. `reported` takes a value on that scale to the
    one that is shown.
    """

    tasks: tuple[str, ...]
    estimates: np.ndarray
    variances: np.ndarray
    reported: Callable[[float], float] = float
    dependence: Dependence | None = None

    @property
    def permuted_variances(self) -> np.ndarray:
        """The variances that the permutation test weights tasks by."""
        return self.variances if self.dependence is None else self.dependence.variances


def models(effects: Effects, moderators: Mapping[str, Sequence[Value]], method: Method) -> list[dict[str, Any]]:
    """The record of each moderator's model, and of the one with all; `moderators` are values of the tasks by label.

    Where several single moderators could be fitted, their p-values of QM are also adjusted for their number
    (`qm_p_holm`).
    """
    records = [model(effects, {label: values}, method) for label, values in moderators.items()]
    fitted = [record for record in records if not record["problem"]]
    if len(fitted) > 1:
        for record, adjusted in zip(fitted, holm([record["qm_p_value"] for record in fitted]), strict=True):
            record["qm_p_holm"] = adjusted
    return [*records, model(effects, moderators, method)] if len(moderators) > 1 else records


def model(effects: Effects, moderators: Mapping[str, Sequence[Value]], method: Method) -> dict[str, Any]:
    """The record of one model; one that cannot be fitted has its `problem` and nothing else.

    With one moderator it also holds what a figure shows: `line` (its points, the fitted effect and its interval) or
    `levels`. These are as reported; coefficients are on the scale of the synthesis.
    """
    record: dict[str, Any] = {"moderators": list(moderators), "k": len(effects.tasks), "problem": obstacle(moderators)}
    if record["problem"]:
        return record
    design = design_of(moderators)
    if effects.dependence and (few := too_few_collections(effects.dependence, len(design.terms))):
        return record | {"problem": few}
    if method.interval == UNMODIFIED and exactly_fitted(design.matrix, effects):
        return record | {"problem": f"the effects follow the model exactly, which leaves {UNMODIFIED} no residual"}
    fit = _fit(design, effects, method)
    test = permutation_test(
        design.matrix,
        effects.estimates,
        effects.permuted_variances,
        method.estimator,
        method.interval,
        method.permutations,
        method.seed,
    )
    record |= {
        "coefficients": _coefficients(design, fit, test.of_coefficients),
        **{name: getattr(fit, name) for name in ("tau2", "tau2_of_all", "r2", "i2", "h2", "qe", "qe_df", "qe_p_value")},
        **{name: getattr(fit, name) for name in ("qm", "qm_df", "qm_p_value")},
        "df": fit.qm_error_df,
        "estimator": fit.estimator,
        "permutations": test.permutations,
        "exact": test.exact,
        "permutation_p_value": test.p_value,
        "permuted_as_independent": effects.dependence is not None,
        "weights": dict(zip(effects.tasks, fit.weights.tolist(), strict=True)),
    }
    if len(moderators) == 1:
        (values,) = moderators.values()
        words = is_category(values)
        record |= {"levels": _levels(fit, values, effects)} if words else {"line": _line(fit, values, effects)}
    return record


def exactly_fitted(design: np.ndarray, effects: Effects) -> bool:
    """Whether the effects differ from those of a design (k, p) by rounding alone."""
    columns, _ = orthonormal(design)
    residuals = effects.estimates - columns @ (columns.T @ effects.estimates)
    return not without_rounding(residuals, effects.estimates, effects.variances).any()


def subgroups(effects: Effects, label: str, groups: Mapping[str, str], method: Method) -> dict[str, Any]:
    """The groups of all tasks (`groups`: task -> its word) and the model with them; `levels` hold the subtotals."""
    words = [groups[task] for task in effects.tasks]
    record = model(effects, {label: words}, method)
    tasks = {word: [task for task, own in groups.items() if own == word] for word in levels(list(groups.values()))}
    return {"label": label, "tasks": tasks, **record}


def _fit(design: Design, effects: Effects, method: Method) -> MetaRegression:
    """The model of the effects, with what they have in common."""
    how = (method.estimator, method.interval, method.alpha)
    if effects.dependence is None:
        return meta_regression(design.matrix, effects.estimates, effects.variances, *how)
    return dependent_meta_regression(design.matrix, effects.estimates, effects.dependence, *how)


def _coefficients(design: Design, fit: MetaRegression, permuted: Sequence[float]) -> list[dict[str, Any]]:
    """Each coefficient with its interval and tests; the intercept has no permutation test."""
    p_values = [None, *permuted]
    return [
        {"term": term, **_row(fit.coefficient(number)), "permutation_p_value": p_values[number]}
        for number, term in enumerate(design.terms)
    ]


def _row(summary: Summary) -> dict[str, Any]:
    values = asdict(summary)
    return {"estimate": values.pop("effect"), **values}


def _levels(fit: MetaRegression, values: Sequence[Value], effects: Effects) -> dict[str, dict[str, Any]]:
    """The summary of each level, as reported: intercept, or intercept and the level's coefficient."""
    found = {}
    for number, level in enumerate(levels(values)):
        row = np.zeros(fit.p)
        row[[0, number]] = 1.0
        found[level] = {"k": list(values).count(level), **_reported(fit.at(row), effects)}
    return found


def _line(fit: MetaRegression, values: Sequence[Value], effects: Effects) -> list[dict[str, float]]:
    """The fitted effect, as reported, with its interval at points between the least and the largest value."""
    numbers = np.array(values, dtype=float)
    points = np.linspace(numbers.min(), numbers.max(), LINE_POINTS)
    shown = [(x, _reported(fit.at(np.array([1.0, x])), effects)) for x in points.tolist()]
    return [{"x": x, **{name: at[name] for name in ("effect", "ci_low", "ci_high")}} for x, at in shown]


def _reported(summary: Summary, effects: Effects) -> dict[str, Any]:
    values = asdict(summary)
    return values | {name: effects.reported(values[name]) for name in ("effect", "ci_low", "ci_high")}
