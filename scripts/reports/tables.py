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
from ranktrial.records.comparison import ComparisonRow, rows_of
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports.comparison.printed_tables import content, dependences, in_full
from ranktrial.reports.comparison.reading import Looks, read_found
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
    overview,
)
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block, Column, Items, Paragraph, Table

INDENTED = 2 * "\N{NO-BREAK SPACE}"


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
    comparisons_tables: list[Path], facts: Facts, looks: dict[str, Looks],
) -> None:  # fmt: skip
    """Write the tables of each comparison and those of all; `looks` says how each comparison is shown."""
    paths_of_tables = {tuple(fields_of("effects_table", path).values()): path for path in effects_tables}
    every = read_table(comparisons, *COMPARISONS)
    family = {row.comparison: row for row in rows_of(ComparisonRow, every)}
    for of_tasks, of_all in zip(effects, meta, strict=True):
        name, comparison = of_all.stem, read_found(of_tasks, of_all, family.get(of_all.stem))
        plot = as_table(comparison, looks[name], facts)
        blocks = content(name, comparison, plot)
        title = f"{name}: {plot.groups[0].treatment} against {plot.control}"
        page = printed.markdown_document(title, [*blocks, *dependences(comparison.meta, plot, facts.labels)])
        write_text(paths_of_tables[name, "tsv"], in_full(comparison, facts.labels).to_csv(sep="\t", index=False))
        write_text(paths_of_tables[name, "md"], page)
        without = as_table(comparison, replace(looks[name], judged=""), facts)
        write_text(paths_of_tables[name, "tex"], printed.latex_document(content(name, comparison, without)))
    texts = {
        ".md": printed.markdown_document("Comparisons", all_comparisons(every, facts.labels)),
        ".tex": printed.latex_document(narrow(every, facts.labels)),
    }
    for path in comparisons_tables:
        write_text(path, texts[path.suffix])


if __name__ == "__main__":
    job(write_tables)
