"""Published numbers beside those of this experiment, to the digits that were printed.

Reads a TSV of published numbers (config/published/), one printed number per row with the place of ours: an effects
file (`comparison`, `task`), a meta file (`comparison`), the table of means (`task`, `system`) or that of the datasets
(`task` alone, as dataset/split), and in it the `quantity`. Writes published-versus-ours.tsv and .md: every number,
ours, whether they are equal, and that of a second comparison; with a column `mark`, the printed marks of significance
beside ours, from the tables of matrices.

With a mapping (YAML) the TSV holds a paper's tables instead, one printed cell per row in the paper's words; then
it writes every cell with a verdict, as HTML too, from the tables of means, of times, of datasets and of features'
importance. `ascending` is the table of means with the other order of ties, where cells have that.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines, write_text
from ranktrial.common.settings import read_record
from ranktrial.common.tables import (
    DATASETS,
    EFFECTS,
    FINE_TUNING_TIMES,
    IMPORTANCE,
    INFERENCE_TIMES,
    MEANS,
    read_table,
    read_texts,
)
from ranktrial.experiment.printed_cells import read_mapping
from ranktrial.records.comparison import MetaRecord
from ranktrial.reports import published as published_cells
from ranktrial.reports.published import FAULT, PRINTED, Marks, Ours, compared, content, counts, marks, read_cells
from ranktrial.reports.transfer_studies import read_matrix
from ranktrial.reports.writing import html_page, printed
from ranktrial.reports.writing.content import Paragraph

COLUMNS = ["table", "row", "column", "printed", "comparison", "task", "system", "quantity", "factor", "note"]


@dataclass(frozen=True)
class Settings:
    """What published numbers are compared with: `beside` without a mapping, the others with one."""

    beside: Annotated[dict[str, str], "comparison: the one whose number stands beside ours"] = field(
        default_factory=dict
    )
    entries: Annotated[dict[str, list[dict[str, str]]], "entry: its systems, each with weights, model and recipe"] = (
        field(default_factory=dict)
    )
    tasks: Annotated[dict[str, str], "task: its folder"] = field(default_factory=dict)
    rankers: Annotated[dict[str, int], "ranker: how many of the tables of importance are its"] = field(
        default_factory=dict
    )


def read_all(paths: Sequence[Path]) -> pd.DataFrame:
    """The rows of several files; a column that one lacks is empty there."""
    return pd.concat(map(read_published, paths), ignore_index=True).fillna("")


def read_published(path: Path) -> pd.DataFrame:
    """The rows of a file of published numbers, all as text; lines that begin with # are left out."""
    text = "\n".join(line for _, line in lines(path) if not line.startswith("#"))
    table = read_texts(io.StringIO(text))
    if missing := [column for column in COLUMNS if column not in table]:
        raise UserError(f"{path}: no column {missing[0]!r}; expected {', '.join(COLUMNS)}")
    for place, row in enumerate(table.to_dict("records"), 1):
        for column in ("printed", "factor"):
            try:
                float(row[column])
            except ValueError:
                raise UserError(f"{path}: row {place}: {column} {row[column]!r} is not a number") from None
        if row.get("mark", "") not in PRINTED:
            raise UserError(f"{path}: row {place}: mark {row['mark']!r}; expected * or #, or none")
    return table


@dataclass(frozen=True)
class Results:
    """The results of this experiment: effects and meta by comparison, means by (task, system), counts by dataset/split,
    and marks of significance."""

    effects: dict[str, pd.DataFrame]
    metas: dict[str, MetaRecord]
    means: pd.DataFrame
    datasets: pd.DataFrame
    marks: Marks | None = None

    def value(self, row: dict, comparison: str) -> float | None:
        """Our number at a published row's place, in `comparison`. UserError for a place that does not exist."""
        where = f"{row['table']}, {row['row']}, {row['column']}"
        try:
            if comparison and row["task"]:
                value = self.effects[comparison].loc[row["task"], row["quantity"]]
            elif comparison:
                value = self.metas[comparison].numbers[row["quantity"]]
            elif not row["system"]:
                value = self.datasets.loc[row["task"], row["quantity"]]
            else:
                value = self.means.loc[(row["task"], row["system"]), row["quantity"]]
        except KeyError as error:
            raise UserError(f"published numbers: {where}: there is no {error.args[0]!r} in this experiment") from None
        return None if value is None or pd.isna(value) else float(value)


def in_digits(value: float, printed: str) -> str:
    """A number to the digits of a printed one, halves rounded away from zero."""
    mantissa, _, exponent = printed.lower().partition("e")
    decimals = Decimal(1).scaleb(-len(mantissa.partition(".")[2]))
    if not exponent:
        return str(Decimal(repr(value)).quantize(decimals, ROUND_HALF_UP))
    power = math.floor(math.log10(abs(value))) if value else 0
    scaled = Decimal(repr(value)).scaleb(-power).quantize(decimals, ROUND_HALF_UP)
    return f"{scaled}e{power:+03d}"


def by_split(path: Path) -> pd.DataFrame:
    """The table of datasets, by dataset/split."""
    table = read_table(path, *DATASETS)
    return table.set_index(table["dataset"] + "/" + table["split"])


def is_fault(row: dict, value: float | None) -> bool:
    """Whether our number differs from a reference score more than is possible for identical texts."""
    beyond = row.get("fault_beyond")
    return bool(beyond) and (value is None or abs(value - float(row["printed"])) > float(beyond))


def versus(published: pd.DataFrame, results: Results, beside: dict[str, str]) -> pd.DataFrame:
    """One row per published number: ours in its digits and in full, equal or not, and the second comparison's."""
    rows = []
    for row in published.to_dict("records"):
        factor, second_comparison = float(row["factor"]), beside.get(row["comparison"])
        value = results.value(row, row["comparison"])
        second = results.value(row, second_comparison) if second_comparison else None
        ours = None if value is None else in_digits(value * factor, row["printed"])
        rows.append(
            {
                **{key: row[key] for key in ("table", "row", "column")},
                "published": row["printed"],
                "ours": ours,
                "equal": "yes" if ours == row["printed"] else "no",
                **(compared(row, results.marks or {}) if "mark" in row else {}),
                "ours_in_full": None if value is None else value * factor,
                "comparison": row["comparison"],
                "beside": None if second is None else in_digits(second * factor, row["printed"]),
                "beside_comparison": second_comparison or "",
                "note": FAULT if is_fault(row, value) else row["note"],
            }
        )
    return pd.DataFrame(rows, columns=None if rows else ["table", "row", "column", "published", "equal", "note"])


def ours_of(
    settings: Settings, means: Path, datasets: Path, times: list[Path], ascending: list[Path], importances: list[Path]
) -> Ours:
    """Our numbers for the cells of a paper's tables."""

    def indexed(path: Path | None, texts: tuple[str, ...], *keys: str) -> pd.DataFrame:
        table = read_table(path, *texts) if path else pd.DataFrame()
        return (pd.DataFrame(columns=list(keys)) if table.empty else table).set_index(list(keys))

    of_work = {path.stem: path for path in times}
    ours = Ours(
        settings.entries,
        settings.tasks,
        indexed(means, MEANS, "task", "system"),
        indexed(of_work.get("inference-times"), INFERENCE_TIMES, "task", "system"),
        indexed(of_work.get("fine-tuning-times"), FINE_TUNING_TIMES, "model", "recipe"),
        ascending=indexed(next(iter(ascending), None), MEANS, "task", "system"),
        datasets=indexed(datasets, DATASETS, "dataset", "split"),
    )
    tables = iter(importances)
    for ranker, number in settings.rankers.items():
        ours.importances[ranker] = [indexed(path, IMPORTANCE, "feature") for path in islice(tables, number)]
    return ours


def write_published(
    published: list[Path], references: list[Path], mapping: list[Path], means: Path, ascending: list[Path],
    datasets: Path, times: list[Path], importances: list[Path], effects: list[Path], meta: list[Path],
    matrices: list[Path], table: Path, page: Path, html: list[Path], settings: Settings,
) -> None:  # fmt: skip
    """Write all published numbers beside ours as TSV, in Markdown and, where it is asked for, as HTML."""
    sources = [*published, *references]
    if mapping:
        ours = ours_of(settings, means, datasets, times, ascending, importances)
        found = published_cells.versus(read_cells(sources[0]), read_mapping(mapping[0]), ours)
    else:
        results = Results(
            effects={path.stem: read_table(path, *EFFECTS).set_index("task") for path in effects},
            metas={path.stem: read_record(MetaRecord, path) for path in meta},
            means=read_table(means, *MEANS).set_index(["task", "system"]),
            datasets=by_split(datasets),
            marks=marks(map(read_matrix, matrices)),
        )
        found = versus(read_all(sources), results, settings.beside)
    tsv = found.to_csv(sep="\t", index=False)
    texts = read_texts(io.StringIO(tsv))
    of = "There are none in" if texts.empty else "They are those of"
    title, lead = "Published numbers and ours", Paragraph(f"{counts(texts)}. {of} {' and '.join(map(str, sources))}.")
    pages = {table: tsv, page: printed.markdown_document(title, [lead, *content(texts, together=False)])}
    pages |= {path: html_page.document(title, [lead, *content(texts, together=True)], {}) for path in html}
    for path, text in pages.items():
        write_text(path, text)


if __name__ == "__main__":
    job(write_published)
