"""A comparison as rows of text: one table for all its tasks, and a row of the table of all comparisons."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.forest_data import Diamond, Forest
from scripts.reports.comparison.lines import Line, lines_of
from scripts.reports.comparison.looks import Looks
from scripts.reports.comparison.reading import Found, Labels, forest

TRIED = "Tried"
TRIED_NOTE = (
    "Tried: the configurations compared on dev before each side stood as it is, control → treatment; 1 where nothing "
    "was tuned. The side for which more was tried had the larger budget of tuning."
)
FIXED = "Fixed effect (for reference)"


def as_table(comparison: Found, looks: Looks, labels: Labels) -> Forest:
    """The forest plot that a table prints as text: without a title, with all columns."""
    return forest([comparison], replace(looks, title="", width="double column", columns=None, trained={}), labels)


def pairs(plot: Forest) -> dict[str, str]:
    """The cells that hold a number of control and of treatment, and what it is."""
    columns = {}
    if plot.effect.SHARED_SCALE:
        columns["means"] = plot.measure
    if plot.judged:
        columns["judged"] = plot.judged
    return columns


def headings(plot: Forest) -> dict[str, str]:
    """The columns of a comparison's table and how LaTeX aligns them; those that no row has are left out."""
    shown = {"Task": "l", "n": "r"} | dict.fromkeys(pairs(plot).values(), "c")
    unit = form.numbers(plot).factor
    effect = plot.effect.LABEL + (f" ({unit})" if unit else "")
    return shown | {effect: "r", f"{form.percent(plot.alpha)} CI": "r", "Weight": "r", "p": "r"}


def cells(line: Line, plot: Forest) -> list[str]:
    """A line of the forest plot as the cells of its table; a task without an effect gives its reason."""
    described = [
        line.label.replace("\N{NO-BREAK SPACE}", " "),
        "".join(line.cells.get("n", "")),
        *(" ".join(line.cells.get(name, "")) for name in pairs(plot)),
    ]
    effect, low, high = line.cells.get("effect", (line.reason, "", ""))
    weight, p = ("".join(line.cells.get(name, "")) for name in ("weight", "p"))
    return [*described, effect, f"{low} {high}".strip(), weight, p]


def blocks(comparison: Found, plot: Forest) -> list[list[list[str]]]:
    """The rows of a comparison's table: tasks, then the summary, its prediction interval and the fixed effect."""
    numbers = form.numbers(plot)
    lines = lines_of(plot, numbers)
    below = [line for line in lines if line.kind in ("summary", "prediction")]
    if comparison.meta["summary"] and comparison.meta["k"] > 1:
        fixed = comparison.meta["fixed"]
        text = numbers.of(fixed["effect"], fixed["ci_low"], fixed["ci_high"])
        marked = fixed["p_value"] < plot.alpha and not plot.summary_note  # it is in no family
        p = (form.p_value(fixed["p_value"], plot.alpha), "*" if marked else "")
        below.append(Line("fixed", FIXED, 0, cells={"effect": (text[0], f"[{text[1]},", f"{text[2]}]"), "p": p}))
    above = [line for line in lines if line.kind in ("task", "undefined")]
    return [[cells(line, plot) for line in part] for part in (above, below) if part]


def notes(comparison: Found, plot: Forest) -> list[str]:
    """What stands below a comparison's table: heterogeneity, what p is, what was left out."""
    group, lines = plot.groups[0], []
    if shown := " and ".join(pairs(plot).values()):
        lines.append(f"{shown}: {plot.control} → {group.treatment}.")
    if group.heterogeneity:
        lines.append(f"Heterogeneity: {form.heterogeneity(group.heterogeneity, plot.alpha)}.")
    lines.append(form.p_text(plot))
    return [*(line.replace("\N{NO-BREAK SPACE}", " ") for line in lines), *comparison.meta["warnings"]]


def overview(table: pd.DataFrame, labels: Labels) -> dict[str, list[str]]:
    """The rows of all comparisons as text, by column."""
    columns: dict[str, list[str]] = {}
    tuned = (table.get(["control_tried", "treatment_tried"], pd.DataFrame()) > 1).any(axis=None)
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        cell = {"Comparison": row["comparison"], "Control": labels.system(row["control"])}
        cell |= {"Treatment": labels.system(row["treatment"]), "Measure": row["measure"], "Effect": row["effect_type"]}
        cell |= {"k": str(row["k"]), "Summary": "", "CI": "", "Prediction interval": "", "p": "", "p (Holm)": ""}
        cell |= {"I²": "" if row["i2"] is None else f"{row['i2']:.1f}%", "τ²": ""}
        if row["effect"] is not None:
            diamond = Diamond(*(row[key] for key in ("effect", "ci_low", "ci_high")))
            half = (diamond.ci_high - diamond.ci_low) / 2
            numbers = form.Numbers(0, form.decimals_for(half))
            cell["Summary"], low, high = numbers.of(diamond.effect, diamond.ci_low, diamond.ci_high)
            cell["CI"] = f"[{low}, {high}]"
            p_values = [None if row[p] is None else form.p_value(row[p], row["alpha"]) for p in ("p_value", "p_holm")]
            cell["p"], cell["p (Holm)"] = (p or "" for p in p_values)
            cell["τ²"] = "" if row["tau2"] is None else f"{row['tau2']:.2g}"
            if row["prediction_low"] is not None:
                _, low, high = numbers.of(None, row["prediction_low"], row["prediction_high"])
                cell["Prediction interval"] = f"[{low}, {high}]"
        if tuned:
            cell[TRIED] = f"{row['control_tried']} → {row['treatment_tried']}"
        for column, text in cell.items():
            columns.setdefault(column, []).append(text)
    return columns
