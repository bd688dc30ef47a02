"""The moderators of a comparison (meta-regression, subgroups), in sentences and tables; reads and writes nothing."""

from __future__ import annotations

import math
from itertools import groupby

from ranktrial.records.comparison import ModerationRecord
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.writing.content import Column, Table
from ranktrial.statistics.moderation import Coefficient, FittedModel, Model, Subgroups

COLUMNS = ("Model", "Coefficient", "Estimate", "CI", "p", "p (permutation)")


def p_words(p: float, alpha: float) -> str:
    """A p-value in a sentence: p = 0.012, p < 0.001; no line breaks in it."""
    return form.unbroken(form.p_equals(p, alpha))


def moderators_test(fit: FittedModel, alpha: float) -> str:
    """The test of all moderators of a model: F or chi-square, its permutation test."""
    df = fit.qm_df if fit.df is None else f"{fit.qm_df}, {fit.df:.4g}"
    name = "χ²" if fit.df is None else "F"
    statistic = form.unbroken(f"{name}({df}) = {fit.qm:.2f}")
    text = f"{statistic}, {p_words(fit.qm_p_value, alpha)}"
    how = "exact" if fit.exact else f"{fit.permutations:,} permutations"
    if fit.permuted_as_independent:
        how += ", tasks taken as independent"
    return f"{text}; permutation test ({how}) {p_words(fit.permutation_p_value, alpha)}"


def left_over(fit: FittedModel, alpha: float) -> str:
    """How much of the variance between tasks a model explains, and the residual heterogeneity."""
    parts = [] if fit.r2 is None else [f"R² = {fit.r2:.0f}%;"]
    tau = math.sqrt(fit.tau2)
    parts += [f"residual τ = {form.fixed(tau, form.decimals_for(tau))},", f"QE = {fit.qe:.1f},", f"df = {fit.qe_df},"]
    return " ".join([*map(form.unbroken, parts), p_words(fit.qe_p_value, alpha)])


def between_groups(groups: Subgroups, alpha: float) -> str:
    """The test between subgroups, or why there is none."""
    if groups.model.fit is None:
        return f"No subtotals by {groups.label}: {groups.model.problem}."
    return f"Between groups ({groups.label}): {moderators_test(groups.model.fit, alpha)}; one τ for all groups."


def statement(model: Model, alpha: float) -> str:
    """What a model says, in a sentence or two."""
    name, fit = model_name(model), model.fit
    if fit is None:
        return f"{name}: not fitted, {model.problem}."
    test = moderators_test(fit, alpha)
    if fit.qm_p_holm is not None:
        test += f"; adjusted for the number of moderators (Holm) {p_words(fit.qm_p_holm, alpha)}"
    if fit.line:
        estimate, low, high = estimate_texts(fit.coefficients[1])
        interval = form.unbroken(f"{form.percent(alpha)} CI {low} to {high}")
        test = f"{form.unbroken(f'slope {estimate}')} ({interval}), {test}"
    return f"{name}: {test}. {left_over(fit, alpha)}."


def dependence_sentence(record: ModerationRecord) -> str:
    """What the models include of how effects depend on one another, in a sentence; empty for independent tasks."""
    if not record.depends_on:
        return ""
    known = " and ".join(record.depends_on)
    used = {model.fit.estimator for model in record.models if model.fit} - {record.estimator}
    other = f" τ² is estimated by {' and '.join(sorted(used))}, since effects of tasks are correlated." if used else ""
    return f"The models include {known}, as the summary does; the permutation test takes tasks as independent.{other}"


def model_name(model: Model) -> str:
    """A model by its moderator; there is only one with several."""
    return model.moderators[0] if len(model.moderators) == 1 else "All together"


def estimate_texts(coefficient: Coefficient, decimals: int | None = None) -> tuple[str, str, str]:
    """A coefficient and its interval with these decimals, or two significant digits of the interval's half-width; in
    powers of ten where it is tiny.
    """
    ends = [coefficient.estimate, coefficient.ci_low, coefficient.ci_high]
    if _tiny(coefficient):
        estimate, low, high = (form.scientific(end) for end in ends)
    else:
        shown = form.decimals_for(_half(coefficient)) if decimals is None else decimals
        estimate, low, high = (form.fixed(end, shown) for end in ends)
    return estimate, low, high


def _half(coefficient: Coefficient) -> float:
    return (coefficient.ci_high - coefficient.ci_low) / 2


def _tiny(coefficient: Coefficient) -> bool:
    return 0 < _half(coefficient) < 1e-4


def common_decimals(record: ModerationRecord) -> int:
    """The decimals of the column of coefficients: those that the most precise needs, tiny ones apart."""
    found = [one for model in record.models if model.fit for one in model.fit.coefficients]
    return max((form.decimals_for(_half(one)) for one in found if not _tiny(one)), default=3)


def coefficient_rows(record: ModerationRecord) -> list[list[str]]:
    """The coefficients of all models under COLUMNS; those that were not fitted have none."""
    lines, decimals = [], common_decimals(record)
    for model in record.models:
        for coefficient in model.fit.coefficients if model.fit else ():
            estimate, low, high = estimate_texts(coefficient, decimals)
            p_values = (coefficient.p_value, coefficient.permutation_p_value)
            shown = ["" if p is None else form.p_value(p, record.alpha) for p in p_values]
            lines.append([model_name(model), coefficient.term, estimate, f"[{low}, {high}]", *shown])
    return lines


def coefficients(record: ModerationRecord) -> Table:
    """The coefficients of all models, a block per model."""
    names = [f"{form.percent(record.alpha)} CI" if name == "CI" else name for name in COLUMNS]
    columns = [Column(name, "r" if place >= 2 else "l") for place, name in enumerate(names)]
    blocks = [list(rows) for _, rows in groupby(coefficient_rows(record), key=lambda row: row[0])]
    return Table(columns, blocks)
