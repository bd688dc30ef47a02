"""The tables of an experiment's comparisons, as TSV (full precision), Markdown and LaTeX (booktabs).

Reads effects/{comparison}.tsv and meta/{comparison}.json of each comparison, and tables/comparisons.tsv. Writes
tables/effects/{comparison}.{tsv,md,tex} (tasks, summary, its sensitivity, a plain sentence) and
tables/comparisons.{md,tex} (one row per comparison).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.tables import COMPARISONS, read_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.comparison import MetaRecord, ShortSummary
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison import plot_text
from ranktrial.reports.comparison.forest_data import Forest
from ranktrial.reports.comparison.reading import Found, Labels, Looks, adjustments, read_found
from ranktrial.reports.comparison.sentence import cases_tables, sentence
from ranktrial.reports.comparison.table import (
    HERE,
    LIKE_THESE,
    NEW,
    P_HERE,
    P_LIKE_THESE,
    TAU,
    TRIED,
    as_table,
    how_to_read,
    notes,
    overview,
    tasks_table,
)
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block, Column, Items, Paragraph, Section, Table, columns
from ranktrial.statistics.summaries import Summary

INDENTED = 2 * "\N{NO-BREAK SPACE}"
COLUMNS = ("effect", "variance", "se", "ci_low", "ci_high", "p_value", "log10_p")  # of an effects file


def in_full(comparison: Found, labels: Labels) -> pd.DataFrame:
    """A comparison's table at full precision: the effects file with labels, then the summaries."""
    meta, table = comparison.meta, comparison.effects.copy()
    table["task"] = [labels.task(name) for name in table["task"]]
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
        tested += ["" if tau2 is None else plot_text.deviations(numbers, tau2)[0]]
        rows.append([labels.task(task), f"{meta.k}", effect, f"[{low}, {high}]", *tested])
    heads = [heading, "k", plot.effect.LABEL, f"{form.percent(plot.alpha)} CI", "p", "τ"]
    alone = {part.interval for part in summaries.values() if part.k == 1}
    said = [Paragraph(f"One task alone has its own interval ({', '.join(alone)}).")] if alone else []
    return [Table(columns(heads), [rows]), *said]


def content(name: str, comparison: Found, plot: Forest) -> list[Block]:
    """A comparison's answers, its table and its notes."""
    table = tasks_table(name, plot)
    cases = cases_tables(comparison.meta, plot)
    return [Paragraph(sentence(comparison.meta, plot)), table, Items(notes(comparison, plot)), *cases]


def dependences(meta: MetaRecord, plot: Forest, labels: Labels) -> list[Block]:
    """How the summary depends on each task."""
    ways = [
        (meta.leave_one_out, "Leaving one task out", "without"),
        (meta.cumulative, "Adding one task at a time", "up to"),
    ]
    return [
        Section(title, dependence(summaries, plot, labels, heading)) for summaries, title, heading in ways if summaries
    ]


def all_comparisons(comparisons: pd.DataFrame, labels: Labels) -> list[Block]:
    """One row per comparison."""
    shown = overview(comparisons, labels)
    words = ("Comparison", "Control", "Treatment", "Measure", "Effect")
    heads = [Column(name, "l" if name in words else "r") for name in shown]
    return [Table(heads, [list(zip(*shown.values(), strict=True))]), Paragraph(how_to_read(shown))]


def narrow(comparisons: pd.DataFrame, labels: Labels) -> list[Block]:
    """The same for a column of a paper: below the name of each comparison its estimates, one row per scope."""
    shown = overview(comparisons, labels)
    rows = [dict(zip(shown, cells, strict=True)) for cells in zip(*shown.values(), strict=True)]
    columns = [Column("Comparison"), Column("Estimate", "r"), Column("p", "r")]
    return [Table(columns, [_scopes(row) for row in rows]), Items([how_to_read(shown)])]


def _scopes(row: dict[str, str]) -> list[list[str]]:
    k = f", k = {row['k']}"
    named = f"{row['Treatment']} against {row['Control']} ({row['Measure']}, {row['Effect']}{k})"
    rows = [[named, "", ""]]
    for scope, p in ((HERE, P_HERE), (LIKE_THESE, P_LIKE_THESE), (NEW, ""), (TAU, ""), (TRIED, "")):
        if row.get(scope):
            rows.append([f"{INDENTED}{scope}", row[scope], row.get(p, "")])
    return rows


def write_tables(
    effects: list[Path], meta: list[Path], comparisons: Path, effects_tables: list[Path],
    comparisons_tables: list[Path], labels: Labels, looks: dict[str, Looks],
) -> None:  # fmt: skip
    """Write the tables of each comparison and those of all; `looks` says how each comparison is shown."""
    paths_of_tables = {tuple(fields_of("effects_table", path).values()): path for path in effects_tables}
    every = read_table(comparisons, *COMPARISONS)
    adjusted = adjustments(every)
    for of_tasks, of_all in zip(effects, meta, strict=True):
        name, comparison = of_all.stem, read_found(of_tasks, of_all, adjusted.get(of_all.stem))
        plot = as_table(comparison, looks[name], labels)
        blocks = content(name, comparison, plot)
        title = f"{name}: {plot.groups[0].treatment} against {plot.control}"
        page = printed.markdown_document(title, [*blocks, *dependences(comparison.meta, plot, labels)])
        write_text(paths_of_tables[name, "tsv"], in_full(comparison, labels).to_csv(sep="\t", index=False))
        write_text(paths_of_tables[name, "md"], page)
        without = as_table(comparison, replace(looks[name], judged=""), labels)
        write_text(paths_of_tables[name, "tex"], printed.latex_document(content(name, comparison, without)))
    texts = {
        ".md": printed.markdown_document("Comparisons", all_comparisons(every, labels)),
        ".tex": printed.latex_document(narrow(every, labels)),
    }
    for path in comparisons_tables:
        write_text(path, texts[path.suffix])


if __name__ == "__main__":
    job(write_tables)
