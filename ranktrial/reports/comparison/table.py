"""What is printed of a comparison, or of a multiple comparison: one table for all its tasks, with what is said of it;
and its row of the table of all comparisons.

Reads and writes nothing; ranktrial/reports/writing/printed.py prints blocks as Markdown and LaTeX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from ranktrial.common.plugins import own_keys
from ranktrial.ir.nouns import Nouns
from ranktrial.records.comparison import ComparisonRow, MetaRecord, ShortSummary, rows_of, table_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison import families
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.notes import deviations, heterogeneity, no_prediction, p_text, trained
from ranktrial.reports.comparison.plot_text import Line, lines_of
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.comparison.sentence import cases_tables, sentence
from ranktrial.reports.writing.content import Block, Column, Items, Paragraph, Section, Table, columns
from ranktrial.statistics.summaries import Summary

TRIED = "Tried"
TRIED_NOTE = (
    "Tried: the number of configurations compared on dev before each side's final one was chosen, control → "
    "treatment, including the systems whose runs a side uses; 1 if nothing was tuned. Compare the two: a larger tuning "
    "budget favours its side."
)
OF_EFFECT = ("effect", "variance", "se", "ci_low", "ci_high", "p_value", "log10_p")  # of an effects file
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
    held = {}
    if plot.effect.SHARED_SCALE and plot.measured:
        held["means"] = plot.measure
    if plot.looks.judged:
        held["judged"] = plot.looks.judged
    return held


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
    heads = [Column(heading, align) for heading, align in headings(plot).items()]
    body, *below = blocks(plot)
    what = plot.effect.caption(plot.measure, own_keys(plot.effect, plot.comparisons[0].meta.own))
    caption = f"{plot.groups[0].treatment} against {plot.control}: {what}, by task."
    return Table(heads, [body], below[0] if below else [], caption)


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
    by_column: dict[str, list[str]] = {}
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
            by_column.setdefault(column, []).append(text)
    return by_column


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


def in_full(comparison: Found, labels: Labels) -> pd.DataFrame:
    """A comparison's table at full precision: the effects file with labels, then the summaries."""
    meta = comparison.meta
    table = table_of(replace(row, task=labels.task(row.task)) for row in comparison.effects)
    rows = []
    if found := meta.meta:
        rows = [{"task": "mean of these tasks", **_numbers(meta.fixed_mean)}]
        rows.append({"task": "summary", "weight": 1.0, **_numbers(found.summary)})
        if found.prediction_interval:
            low, high = found.prediction_interval
            rows.append({"task": "prediction interval", "ci_low": low, "ci_high": high})
        rows.append({"task": "fixed effect", **_numbers(found.fixed)})
    if meta.unjudged:
        cases = meta.unjudged.cases.items()
        rows += [
            {"task": f"mean of these tasks, unjudged: {name}", **_numbers(case.fixed_mean)} for name, case in cases
        ]
    return pd.concat([table, pd.DataFrame(rows, columns=table.columns, dtype=object)], ignore_index=True)


def _numbers(found: Summary) -> dict[str, float | None]:
    return {key: getattr(found, key) for key in OF_EFFECT}


def dependence(summaries: dict[str, ShortSummary], plot: Forest, labels: Labels, heading: str) -> list[Block]:
    """The summaries without each task, or with one task more each time."""
    numbers = form.numbers(plot)
    rows = []
    for task, meta in summaries.items():
        summary, tau2 = meta.summary, meta.tau2
        effect, low, high = numbers.of(summary.effect, summary.ci_low, summary.ci_high)
        p = summary.p_value
        tested = ["" if p is None else form.p_value(p, plot.alpha)]
        tested += ["" if tau2 is None else deviations(numbers, tau2)[0]]
        rows.append([labels.task(task), f"{meta.k}", effect, f"[{low}, {high}]", *tested])
    heads = [heading, "k", plot.effect.LABEL, f"{form.percent(plot.alpha)} CI", "p", "τ"]
    alone = {part.interval for part in summaries.values() if part.k == 1}
    said = [Paragraph(f"One task alone has its own interval ({', '.join(alone)}).")] if alone else []
    return [Table(columns(heads), [rows]), *said]


def content(comparison: Found, plot: Forest) -> list[Block]:
    """A comparison's answers, its table and its notes."""
    table = tasks_table(plot)
    cases = cases_tables(comparison.meta, plot)
    return [Paragraph(sentence(comparison.meta, plot)), table, Items(notes(plot)), *cases]


def dependences(meta: MetaRecord, plot: Forest, labels: Labels) -> list[Block]:
    """How the summary depends on each task."""
    ways = [
        (meta.leave_one_out, "Leaving one task out", "without"),
        (meta.cumulative, "Adding one task at a time", "up to"),
    ]
    return [
        Section(title, dependence(summaries, plot, labels, heading)) for summaries, title, heading in ways if summaries
    ]


def family_content(found: FoundFamily) -> list[Block]:
    """The answer of a multiple comparison, each system's mean, the notes on the method, and the differences."""
    said = [*families.notes(found), *found.record.warnings]
    return [Paragraph(families.sentence(found)), families.standings(found), Items(said), families.differences(found)]
