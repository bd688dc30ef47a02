"""Tables to print, as Markdown and LaTeX (booktabs), and those with numbers of their own as TSV at full precision.

- write_tables: of effects/{comparison}.tsv and meta/{comparison}.json, tables/effects/{comparison}.{tsv,md,tex} (tasks,
  summary, its sensitivity, a plain sentence); of tables/comparisons.tsv, .md and .tex (one row per comparison)
- write_means: of tables/means.tsv, with the letters of multiple comparisons, tables/means.{md,tex}
- write_family: of multiple-comparisons/{family}.json and its table, tables/multiple-comparisons/{family}.{md,tex}
- write_moderators: of moderators/{comparison}.json, tables/moderators/{comparison}.{tsv,md,tex}
- matrix_table, matrix_answers, curve_answers: of tables/{matrix}.tsv or curves/{curve}.json, tables/{matrix}.{md,tex}
  in the paper's layout, and tables/{matrix}-answers.{md,tsv} or tables/curves-{curve}-answers.{md,tsv}
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import write_text
from ranktrial.common.settings import read_record
from ranktrial.common.tables import COMPARISONS, read_table, write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.means import read_means
from ranktrial.ir.nouns import nouns_of
from ranktrial.records.comparison import ComparisonRow, ModerationRecord, rows_of
from ranktrial.records.curves import CurvesRecord
from ranktrial.records.facts import Facts, Labels
from ranktrial.reports import transfer_studies
from ranktrial.reports.comparison import moderation
from ranktrial.reports.comparison.families import heading, read_families, read_family
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
    content,
    dependences,
    family_content,
    how_to_read,
    in_full,
    overview,
)
from ranktrial.reports.contents.data import printed_means
from ranktrial.reports.transfer_studies import Curves, Matrix, read_matrix, write_answers
from ranktrial.reports.writing import printed
from ranktrial.reports.writing.content import Block, Column, Folded, Items, Paragraph, Section, Table
from ranktrial.reports.writing.printed import write_printed

INDENTED = 2 * "\N{NO-BREAK SPACE}"


def all_comparisons(comparisons: pd.DataFrame, facts: Facts) -> list[Block]:
    """One row per comparison."""
    shown = overview(comparisons, facts.labels)
    words = ("Comparison", "Control", "Treatment", "Measure", "Effect")
    heads = [Column(facts.nouns.say(name), "l" if name in words else "r") for name in shown]
    return [Table(heads, [list(zip(*shown.values(), strict=True))]), Paragraph(how_to_read(shown, facts.nouns))]


def narrow(comparisons: pd.DataFrame, facts: Facts) -> list[Block]:
    """The same for a column of a paper: below the name of each comparison its estimates, one row per scope."""
    shown = overview(comparisons, facts.labels)
    rows = [dict(zip(shown, cells, strict=True)) for cells in zip(*shown.values(), strict=True)]
    columns = [Column("Comparison"), Column("Estimate", "r"), Column("p", "r")]
    caption = "Comparisons: estimates with their intervals in each scope."
    return [
        Table(columns, [_scopes(row, facts.of_tasks) for row in rows], caption=caption),
        Items([how_to_read(shown, facts.nouns)]),
    ]


def _scopes(row: dict[str, str], of_tasks: bool) -> list[list[str]]:
    k = f", k = {row['k']}"
    named = f"{row['Treatment']} against {row['Control']} ({row['Measure']}, {row['Effect']}{k})"
    rows = [[named, "", ""]]
    for scope, p in ((HERE, P_HERE), (LIKE_THESE, P_LIKE_THESE), (NEW, ""), (TAU, ""), (TRIED, "")):
        if row.get(scope):
            rows.append([f"{INDENTED}{nouns_of(row['Measure'], of_tasks).say(scope)}", row[scope], row.get(p, "")])
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
        blocks = content(comparison, plot)
        title = f"{name}: {plot.groups[0].treatment} against {plot.control}"
        page = printed.markdown_document(title, [*blocks, *dependences(comparison.meta, plot, facts.labels)])
        write_text(paths_of_tables[name, "tsv"], in_full(comparison, facts.labels).to_csv(sep="\t", index=False))
        write_text(paths_of_tables[name, "md"], page)
        without = as_table(comparison, replace(looks[name], judged=""), facts)
        write_text(paths_of_tables[name, "tex"], printed.latex_document(name, content(comparison, without)))
    texts = {
        ".md": printed.markdown_document("Comparisons", all_comparisons(every, facts)),
        ".tex": printed.latex_document("comparisons", narrow(every, facts)),
    }
    for path in comparisons_tables:
        write_text(path, texts[path.suffix])


def write_means(
    means: Path, families: list[Path], family_records: list[Path], page: Path, tex: Path, facts: Facts,
    tried: Annotated[dict[str, int], "by tuned system, the configurations compared on dev"],
) -> None:  # fmt: skip
    """Write the means of all systems in both formats."""
    found = read_families(families, family_records, facts.labels)
    write_printed("Means", printed_means(read_means(means), found, facts, tried), page, tex)


def write_family(
    table: Path, record: Path, page: Path, tex: Path, labels: Labels, title: Annotated[str, "of the figure"] = ""
) -> None:
    """Write a multiple comparison in both formats."""
    found, name = read_family(table, record, labels), page.stem
    in_full = [Folded("The differences on each task, at full precision", [], f"{name}.tsv")] if found.tasks > 1 else []
    write_printed(f"{name}: {heading(found)}", family_content(found), page, tex, in_full)


def write_moderators(
    moderators: Path, table: Path, page: Path, tex: Path, title: Annotated[str, "what is compared"], labels: Labels
) -> None:
    """Write the moderators of a comparison."""
    record = read_record(ModerationRecord, moderators)
    blocks = moderation.content(record)
    of_tasks = [Section("Values of the tasks", [moderation.values(record, labels)])] if record.models else []
    write_table(table, moderation.in_full(record))
    write_text(page, printed.markdown_document(f"Moderators of the effect: {title}", [*blocks, *of_tasks]))
    write_text(tex, printed.latex_document(f"{tex.stem}-moderators", [Paragraph(title), *blocks]))


def matrix_table(matrix: Path, page: Path, tex: Path, settings: Matrix) -> None:
    """Write a matrix of sources and targets, and its notes."""
    table = read_matrix(matrix)
    blocks = [transfer_studies.matrix(table, settings), Items(transfer_studies.matrix_notes(table, settings))]
    write_printed(settings.title or matrix.stem, blocks, page, tex)


def matrix_answers(matrix: Path, page: Path, table: Path, settings: Matrix) -> None:
    """Write the answers from a matrix."""
    write_answers(transfer_studies.answers_of_matrix(read_matrix(matrix), settings), page, table)


def curve_answers(record: Path, page: Path, table: Path, settings: Curves) -> None:
    """Write the answers from curves over the number of training queries."""
    found = transfer_studies.answers_of_curves(read_record(CurvesRecord, record), settings)
    write_answers(found, page, table)


if __name__ == "__main__":
    job(write_tables, write_means, write_family, write_moderators, matrix_table, matrix_answers, curve_answers)
