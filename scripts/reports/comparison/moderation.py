"""The moderators of a comparison (meta-regression, subgroups), in sentences and rows of text.

Reads moderators/{comparison}.json; writes nothing.
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from scripts.reports.comparison import number_text as form
from scripts.reports.writing.content import Column, Table

COLUMNS = ("Model", "Coefficient", "Estimate", "CI", "p", "p (permutation)")


def read_moderation(path: Path) -> dict[str, Any]:
    """The record of a comparison's moderators."""
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def p_words(p: float, alpha: float) -> str:
    """A p-value in a sentence: p = 0.012, p < 0.001; no line breaks in it."""
    text = form.p_value(p, alpha)
    return form.unbroken(f"p {text[0]} {text[1:]}" if text[0] in "<>" else f"p = {text}")


def moderators_test(model: dict[str, Any], alpha: float) -> str:
    """The test of all moderators of a model: F or chi-square, its permutation test."""
    df = model["qm_df"] if model["df"] is None else f"{model['qm_df']}, {model['df']:.4g}"
    name = "χ²" if model["df"] is None else "F"
    statistic = form.unbroken(f"{name}({df}) = {model['qm']:.2f}")
    text = f"{statistic}, {p_words(model['qm_p_value'], alpha)}"
    how = "exact" if model["exact"] else f"{model['permutations']:,} permutations"
    if model.get("permuted_as_independent"):
        how += ", tasks taken as independent"
    return f"{text}; permutation test ({how}) {p_words(model['permutation_p_value'], alpha)}"


def left_over(model: dict[str, Any], alpha: float) -> str:
    """How much of the variance between tasks a model explains, and the residual heterogeneity."""
    parts = [] if model["r2"] is None else [f"R² = {model['r2']:.0f}%;"]
    parts += [
        f"residual τ = {form.deviations(model['tau2'])[0]},",
        f"QE = {model['qe']:.1f},",
        f"df = {model['qe_df']},",
    ]
    return " ".join([*map(form.unbroken, parts), p_words(model["qe_p_value"], alpha)])


def between_groups(record: dict[str, Any]) -> str:
    """The test between subgroups, or why there is none."""
    groups, alpha = record["subgroups"], record["alpha"]
    if groups["problem"]:
        return f"No subtotals by {groups['label']}: {groups['problem']}."
    return f"Between groups ({groups['label']}): {moderators_test(groups, alpha)}; one τ for all groups."


def statement(model: dict[str, Any], alpha: float) -> str:
    """What a model says, in a sentence or two."""
    name = model_name(model)
    if model["problem"]:
        return f"{name}: not fitted, {model['problem']}."
    test = moderators_test(model, alpha)
    if "qm_p_holm" in model:
        test += f"; adjusted for the number of moderators (Holm) {p_words(model['qm_p_holm'], alpha)}"
    if "line" in model:
        estimate, low, high = estimate_texts(model["coefficients"][1])
        interval = form.unbroken(f"{form.percent(alpha)} CI {low} to {high}")
        test = f"{form.unbroken(f'slope {estimate}')} ({interval}), {test}"
    return f"{name}: {test}. {left_over(model, alpha)}."


def dependence_sentence(record: dict[str, Any]) -> str:
    """What the models include of how effects depend on one another, in a sentence; empty for independent tasks."""
    if not record.get("depends_on"):
        return ""
    known = " and ".join(record["depends_on"])
    used = {model["estimator"] for model in record["models"] if "estimator" in model} - {record["estimator"]}
    other = f" τ² is estimated by {' and '.join(sorted(used))}, since effects of tasks are correlated." if used else ""
    return f"The models include {known}, as the summary does; the permutation test takes tasks as independent.{other}"


def model_name(model: dict[str, Any]) -> str:
    """A model by its moderator; there is only one with several."""
    names = model["moderators"]
    return names[0] if len(names) == 1 else "All together"


def estimate_texts(coefficient: dict[str, Any]) -> tuple[str, str, str]:
    """A coefficient and its interval with two significant digits of the interval's half-width."""
    ends = [coefficient[name] for name in ("estimate", "ci_low", "ci_high")]
    half = (ends[2] - ends[1]) / 2
    if 0 < half < 1e-4:
        estimate, low, high = (form.scientific(end) for end in ends)
    else:
        estimate, low, high = (form.fixed(end, form.decimals_for(half)) for end in ends)
    return estimate, low, high


def coefficient_rows(record: dict[str, Any]) -> list[list[str]]:
    """The coefficients of all models under COLUMNS; those that were not fitted have none."""
    lines = []
    for model in record["models"]:
        for coefficient in model.get("coefficients", []):
            estimate, low, high = estimate_texts(coefficient)
            p_values = [coefficient[name] for name in ("p_value", "permutation_p_value")]
            shown = ["" if p is None else form.p_value(p, record["alpha"]) for p in p_values]
            lines.append([model_name(model), coefficient["term"], estimate, f"[{low}, {high}]", *shown])
    return lines


def coefficients(record: dict[str, Any]) -> Table:
    """The coefficients of all models, a block per model."""
    names = [f"{form.percent(record['alpha'])} CI" if name == "CI" else name for name in COLUMNS]
    columns = [Column(name, "r" if place >= 2 else "l") for place, name in enumerate(names)]
    blocks = [list(rows) for _, rows in groupby(coefficient_rows(record), key=lambda row: row[0])]
    return Table(columns, blocks)
