"""The moderators of a comparison (meta-regression, subgroups), in sentences and rows of text.

Reads moderators/{comparison}.json; writes nothing.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from scripts.common.records import read_record
from scripts.records.moderation import ModerationRecord
from scripts.reports.comparison import number_text as form
from scripts.reports.writing.content import Column, Table
from scripts.statistics.meta_regression.moderation import Coefficient, FittedModel, Model, Subgroups

COLUMNS = ("Model", "Coefficient", "Estimate", "CI", "p", "p (permutation)")


def read_moderation(path: Path) -> ModerationRecord:
    """The record of a comparison's moderators."""
    return read_record(ModerationRecord, path)


def p_words(p: float, alpha: float) -> str:
    """A p-value in a sentence: p = 0.012, p < 0.001; no line breaks in it."""
    text = form.p_value(p, alpha)
    return form.unbroken(f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}")


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
    parts += [f"residual τ = {form.deviations(fit.tau2)[0]},", f"QE = {fit.qe:.1f},", f"df = {fit.qe_df},"]
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


def estimate_texts(coefficient: Coefficient) -> tuple[str, str, str]:
    """A coefficient and its interval with two significant digits of the interval's half-width."""
    ends = [coefficient.estimate, coefficient.ci_low, coefficient.ci_high]
    half = (ends[2] - ends[1]) / 2
    if 0 < half < 1e-4:
        estimate, low, high = (form.scientific(end) for end in ends)
    else:
        estimate, low, high = (form.fixed(end, form.decimals_for(half)) for end in ends)
    return estimate, low, high


def coefficient_rows(record: ModerationRecord) -> list[list[str]]:
    """The coefficients of all models under COLUMNS; those that were not fitted have none."""
    lines = []
    for model in record.models:
        for coefficient in model.fit.coefficients if model.fit else ():
            estimate, low, high = estimate_texts(coefficient)
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
