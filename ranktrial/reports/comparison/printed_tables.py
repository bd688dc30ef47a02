"""The table of a comparison, or of a multiple comparison, with what is said of it: what is printed of each.

Reads and writes nothing; ranktrial/reports/writing/printed.py prints blocks as Markdown and LaTeX.
"""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ranktrial.records.comparison import MetaRecord, ShortSummary, table_of
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import families
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.families import FoundFamily
from ranktrial.reports.comparison.notes import deviations
from ranktrial.reports.comparison.reading import Forest, Found
from ranktrial.reports.comparison.sentence import cases_tables, sentence
from ranktrial.reports.comparison.table import notes, tasks_table
from ranktrial.reports.writing.content import Block, Items, Paragraph, Section, Table, columns
from ranktrial.statistics.summaries import Summary

COLUMNS = ("effect", "variance", "se", "ci_low", "ci_high", "p_value", "log10_p")  # of an effects file


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
    return {key: getattr(found, key) for key in COLUMNS}


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
