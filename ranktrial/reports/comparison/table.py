"""A comparison as rows of text: one table for all its tasks, and a row of the table of all comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from ranktrial.common.plugins import own_keys
from ranktrial.ir.nouns import Nouns
from ranktrial.records.comparison import ComparisonRow, rows_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.notes import deviations, heterogeneity, no_prediction, p_text, trained
from ranktrial.reports.comparison.plot_text import Line, lines_of
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.writing.content import Column, Table

TRIED = "Tried"
TRIED_NOTE = (
    "Tried: the number of configurations compared on dev before each side's final one was chosen, control → "
    "treatment, including the systems whose runs a side uses; 1 if nothing was tuned. Compare the two: a larger tuning "
    "budget favours its side."
)
HERE, P_HERE = "On these collections", "p (these)"
LIKE_THESE, P_LIKE_THESE = "Over collections like these", "p (like these)"
NEW, TAU = "In a new collection", "τ"
SCOPES = (HERE, P_HERE, LIKE_THESE, P_LIKE_THESE, NEW)
HOW_TO_READ = {  # column -> its meaning
    HERE: "On these collections: their mean with equal weights.",
    LIKE_THESE: "Over collections like these: the random-effects mean.",
    NEW: "In a new collection: the prediction interval. It includes the uncertainty of τ, so it is wider than the "
    "interval of the mean even where τ is estimated as 0.",
    P_HERE: "p: in parentheses after Holm correction for the number of hypotheses; one on several scales (such as MD "
    "and SMD) counts once, other ways to test it count, and comparisons that name a family are corrected within it.",
    TAU: "τ: the standard deviation of true effects between collections, in units of the effect (of a correlation: of "
    "Fisher's z).",
    TRIED: TRIED_NOTE,
}


def how_to_read(shown: Mapping[str, list[str]], nouns: Nouns) -> str:
    """The meaning of the columns that have a value; `shown` are the cells by column."""
    there = {name for name in HOW_TO_READ if any(shown.get(name, []))}
    if not any("(" in text for text in shown.get(P_HERE, [])):
        there.discard(P_HERE)
    return nouns.say(" ".join(text for name, text in HOW_TO_READ.items() if name in there))


def as_table(comparison: Found, looks: Looks, facts: Facts) -> Forest:
    """The forest plot that a table prints as text: without a title, with all columns and the fixed effect."""
    shown = replace(looks, title="", width="double column", columns=None, fixed=True)
    return Forest((comparison,), shown, facts)


def pairs(plot: Forest) -> dict[str, str]:
    """The cells that hold a number of control and of treatment, and what it is."""
    columns = {}
    if plot.effect.SHARED_SCALE and plot.measured:
        columns["means"] = plot.measure
    if plot.looks.judged:
        columns["judged"] = plot.looks.judged
    return columns


def _counted(plot: Forest) -> bool:
    """Whether the number of a task's queries is known."""
    return any(row.n is not None for group in plot.groups for row in group.rows)


def headings(plot: Forest) -> dict[str, str]:
    """The columns of a comparison's table and how LaTeX aligns them; those that no row has are left out."""
    shown = {"Task": "l"} | ({"n": "r"} if _counted(plot) else {}) | dict.fromkeys(pairs(plot).values(), "c")
    unit = form.numbers(plot).factor
    effect = plot.effect.LABEL + (f" ({unit})" if unit else "")
    weight = {"Weight": "r"} if plot.shows("weight") else {}
    return shown | {effect: "r", f"{form.percent(plot.alpha)} CI": "r"} | weight | {"p": "r"}


def cells(line: Line, plot: Forest) -> list[str]:
    """A line of the forest plot as the cells of its table; notes give the reason why a task has no effect."""
    described = [
        line.label.replace("\N{NO-BREAK SPACE}", " "),
        *(["".join(line.cells.get("n", ""))] if _counted(plot) else []),
        *(" ".join(line.cells.get(name, "")) for name in pairs(plot)),
    ]
    effect, low, high = line.cells.get("effect", ("none", "", ""))
    last = ["".join(line.cells.get(name, "")) for name in ("weight", "p") if name == "p" or plot.shows(name)]
    return [*described, effect, f"{low} {high}".strip(), *last]


def blocks(plot: Forest) -> list[list[list[str]]]:
    """The rows of a comparison's table: tasks, then their means, the prediction interval and the fixed effect."""
    lines = lines_of(plot, form.numbers(plot))
    below = [line for line in lines if line.kind in ("mean", "summary", "prediction", "fixed")]
    if fixed := plot.groups[0].fixed:
        below[-1].cells["p"] = (form.p_value(fixed.p_value, plot.alpha),)  # in no family, so without a verdict
    above = [line for line in lines if line.kind in ("task", "undefined")]
    return [[cells(line, plot) for line in part] for part in (above, below) if part]


def tasks_table(plot: Forest) -> Table:
    """A comparison's tasks, and below them their means, the prediction interval and the fixed effect."""
    columns = [Column(heading, align) for heading, align in headings(plot).items()]
    body, *below = blocks(plot)
    what = plot.effect.caption(plot.measure, own_keys(plot.effect, plot.comparisons[0].meta.own))
    caption = f"{plot.groups[0].treatment} against {plot.control}: {what}, by task."
    return Table(columns, [body], below[0] if below else [], caption)


def notes(plot: Forest) -> list[str]:
    """The notes below a comparison's table: heterogeneity, the method of p, what was left out."""
    group, lines = plot.groups[0], []
    if shown := " and ".join(pairs(plot).values()):
        lines.append(f"{shown}: {plot.control} → {group.treatment}.")
    if group.heterogeneity:
        lines.append(f"Heterogeneity: {heterogeneity(group.heterogeneity, plot)}.")
    lines += [
        f"{plot.task(row)}: no effect ({plot.nouns.say(row.undefined or '')})."
        for row in group.rows
        if row.effect is None
    ]
    if group.heterogeneity and group.prediction is None:
        lines.append(f"No {form.percent(plot.alpha)} prediction interval{no_prediction(group)}.")
    lines += [p_text(plot), *trained(plot)]
    return [*(line.replace("\N{NO-BREAK SPACE}", " ") for line in lines), *group.found.meta.warnings]


def overview(table: pd.DataFrame, labels: Labels) -> dict[str, list[str]]:
    """The rows of all comparisons as text, by column."""
    columns: dict[str, list[str]] = {}
    rows = rows_of(ComparisonRow, table)
    numbers = form.of_several_units(interval for row in rows if row.effect is not None for interval in _means_of(row))
    tuned = any(row.control_tried > 1 or row.treatment_tried > 1 for row in rows)
    for row in rows:
        cell = {"Comparison": row.comparison, "Control": labels.system(row.control)}
        cell |= {"Treatment": labels.system(row.treatment), "Measure": row.measure, "Effect": row.effect_type}
        cell |= {"k": str(row.k)} | dict.fromkeys((*SCOPES, TAU), "")
        if row.effect is not None:
            cell |= _answers(row, numbers)
        if tuned:
            cell[TRIED] = f"{row.control_tried} → {row.treatment_tried}"
        for column, text in cell.items():
            columns.setdefault(column, []).append(text)
    return columns


def _means_of(row: ComparisonRow) -> list[tuple[str, float, float]]:
    """The intervals of a comparison's means, with the unit of its effect."""
    unit = f"{row.effect_type} in {row.measure}"
    return [(unit, row.fixed_mean_ci_low, row.fixed_mean_ci_high), (unit, row.ci_low, row.ci_high)]


def _answers(row: ComparisonRow, numbers: form.Numbers) -> dict[str, str]:
    """The cells of a comparison that has an effect: its means with p-values, where a new one is expected, tau."""
    cells = {}
    for (scope, test), prefix in (((HERE, P_HERE), "fixed_mean_"), ((LIKE_THESE, P_LIKE_THESE), "")):
        mean = [getattr(row, f"{prefix}{end}") for end in ("effect", "ci_low", "ci_high")]
        effect, low, high = numbers.of(*mean)
        cells |= {scope: f"{effect} [{low}, {high}]", test: _p_values(row, prefix)}
    if row.of_tasks:  # the task scores of a leaderboard say nothing about these tasks alone
        cells |= {HERE: "", P_HERE: ""}
    elif row.k == 1:
        cells |= {LIKE_THESE: "", P_LIKE_THESE: ""}
    if row.prediction_low is not None:
        _, low, high = numbers.of(None, row.prediction_low, row.prediction_high)
        cells[NEW] = f"[{low}, {high}]"
    if row.tau2 is not None:
        ends = () if row.tau2_low is None else (row.tau2_low, row.tau2_high)
        tau, *interval = deviations(numbers, row.tau2, *ends)
        cells[TAU] = f"{tau} [{', '.join(interval)}]" if interval else tau
    return cells


def _p_values(row: ComparisonRow, prefix: str) -> str:
    """A p-value and in parentheses Holm's, if there are several hypotheses."""
    own, by_holm = getattr(row, f"{prefix}p_value"), getattr(row, f"{prefix}p_holm")
    if own is None:
        return ""
    text = form.p_value(own, row.alpha)
    return text if row.hypotheses < 2 else f"{text} ({form.p_value(by_holm, row.alpha)})"
