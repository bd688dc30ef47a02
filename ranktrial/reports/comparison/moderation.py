"""The moderators of a comparison (meta-regression, subgroups) in sentences and tables; reads and writes nothing."""

from __future__ import annotations

import math
from itertools import groupby

import pandas as pd

from ranktrial.records.comparison import ModerationRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.writing.content import Block, Column, Items, Paragraph, Section, Table, columns
from ranktrial.statistics.moderation import Coefficient, FittedModel, Level, Model, Subgroups
from ranktrial.statistics.summaries import Summary

COLUMNS = ("Model", "Coefficient", "Estimate", "CI", "p", "p (permutation)")
OF_ROW = ("estimate", "variance", "se", "ci_low", "ci_high", "df", "p_value", "permutation_p_value")
OF_MODEL = ("k", "problem", "tau2", "tau2_of_all", "r2", "i2", "h2", "qe", "qe_df", "qe_p_value", "qm", "qm_df",
            "qm_p_value", "qm_p_holm", "permutations", "exact")  # fmt: skip
CAUTION = (
    "Tasks were not assigned to values of a moderator and differ in other ways, too: a result that was not predicted "
    "is a hypothesis."
)
WHOLE = ("df", "group_k", "model_k", "model_qe_df", "model_qm_df", "model_permutations")


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
    heads = [Column(name, "r" if place >= 2 else "l") for place, name in enumerate(names)]
    blocks = [list(rows) for _, rows in groupby(coefficient_rows(record), key=lambda row: row[0])]
    return Table(heads, blocks)


def in_full(record: ModerationRecord) -> pd.DataFrame:
    """Every number of the models: one row per coefficient, then one per subgroup; a model without any has one row."""
    lines = [line for model in record.models for line in _coefficient_lines(model)]
    lines += _subgroup_lines(record.subgroups) if record.subgroups else []
    first = ["kind", "model", "term", "group_k", *OF_ROW]
    table = pd.DataFrame(lines)
    table = table.reindex(columns=[*first, *(name for name in table.columns if name not in first)])
    return table.astype({name: "Int64" for name in WHOLE if name in table and _whole(table[name])})


def _coefficient_lines(model: Model) -> list[dict[str, object]]:
    of_model = _of_model(model_name(model), model)
    coefficients = model.fit.coefficients if model.fit else (None,)
    return [
        {"kind": "coefficient", "term": getattr(one, "term", None), **_numbers(one), **of_model} for one in coefficients
    ]


def _subgroup_lines(groups: Subgroups) -> list[dict[str, object]]:
    of_model = _of_model(groups.label, groups.model)
    levels = groups.model.fit.levels if groups.model.fit else None
    if not levels:
        return [{"kind": "subgroup", "term": "", **_numbers(None), "group_k": None, **of_model}]
    return [
        {"kind": "subgroup", "term": word, **_numbers(level.summary), "estimate": level.summary.effect}
        | {"group_k": level.k, **of_model}
        for word, level in levels.items()
    ]


def _numbers(found: Coefficient | Summary | None) -> dict[str, object]:
    """The numbers of a row; None for those that it lacks."""
    return {name: getattr(found, name, None) for name in OF_ROW}


def _of_model(name: str, model: Model) -> dict[str, object]:
    """The numbers of a model, which each of its rows repeats; None if it was not fitted."""
    numbers = {f"model_{key}": getattr(model, key, getattr(model.fit, key, None)) for key in OF_MODEL}
    return {"model": name, **numbers, "model_permutation_p_value": getattr(model.fit, "permutation_p_value", None)}


def _whole(column: pd.Series) -> bool:
    """Whether all its numbers are whole; with seeds degrees of freedom are not."""
    return all(pd.isna(value) or float(value).is_integer() for value in column)


def subgroups(label: str, levels: dict[str, Level], alpha: float) -> Table:
    """The subtotals."""
    halves = [(level.summary.ci_high - level.summary.ci_low) / 2 for level in levels.values()]
    numbers = form.Numbers(0, form.decimals_for(min(halves)))
    rows = []
    for word, level in levels.items():
        found = level.summary
        effect, low, high = numbers.of(found.effect, found.ci_low, found.ci_high)
        rows.append([word, str(level.k), effect, f"[{low}, {high}]", form.p_value(found.p_value, alpha)])
    return Table(columns([label, "k", "Effect", f"{form.percent(alpha)} CI", "p"]), [rows])


def values(record: ModerationRecord, labels: Labels) -> Table:
    """The values of the moderators by task."""
    names = list(dict.fromkeys(name for of_task in record.values.values() for name in of_task))
    decimals = {name: _decimals([of_task.get(name, "") for of_task in record.values.values()]) for name in names}
    rows = [
        [labels.task(task), *(_value(of_task.get(name, ""), decimals[name]) for name in names)]
        for task, of_task in record.values.items()
    ]
    return Table(columns(["Task", *(record.labels[name] for name in names)]), [rows])


def _decimals(values: list[str | float]) -> int:
    """The decimals of a moderator's column: none for whole numbers."""
    numbers = [float(value) for value in values if not isinstance(value, str)]
    return 0 if all(map(float.is_integer, numbers)) else form.mean_decimals(numbers)


def _value(value: str | float, decimals: int) -> str:
    return value if isinstance(value, str) else form.fixed(value, decimals)


def content(record: ModerationRecord) -> list[Block]:
    """The finding and coefficients of each model, and the subtotals of groups."""
    blocks: list[Block] = []
    if record.models:
        said = filter(None, [dependence_sentence(record), CAUTION])
        blocks.append(Items([statement(model, record.alpha) for model in record.models]))
        blocks += [*map(Paragraph, said), coefficients(record)]
    if groups := record.subgroups:
        levels = groups.model.fit.levels if groups.model.fit else None
        table = [subgroups(groups.label, levels, record.alpha)] if levels else []
        between = Paragraph(between_groups(groups, record.alpha))
        blocks.append(Section(f"Subgroups by {groups.label}", [*table, between]))
    return blocks
