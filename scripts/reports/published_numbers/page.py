"""The page of printed cells beside ours: counts, rules, reasons, remarks and every cell; reads and writes nothing."""

from __future__ import annotations

import pandas as pd

from scripts.reports.comparison import number_text as form
from scripts.reports.contents.published import spread
from scripts.reports.published_numbers.cells import BETWEEN, EQUAL, MACHINE, NOT_RUN, SPREAD, VERDICTS, WIDTH
from scripts.reports.writing.content import Block, Items, Paragraph, Section, Span, Table, columns

RULES = {
    EQUAL: "ours, rounded to the printed digits (halves away from zero), is the printed number",
    SPREAD: f"not further from it than {WIDTH} standard deviations over seeds: the printed one or, where none is "
    "printed, ours",
    "different": "further away, or nothing is known of the seeds' spread",
    MACHINE: "times, which another machine does not repeat; read the ratio of ours to theirs, and the ratios between "
    "models",
    NOT_RUN: "this experiment has no such number; the reason stands beside it",
}


COLUMNS = [
    *columns(["table", "variant", "system", "training", "measure", "published", "ours", "difference"], words=5),
    *columns(["verdict", "reason"], words=2),
]


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many cells of each table, and of all, have each verdict."""
    counts = pd.crosstab(table["table"], table["verdict"]).reindex(index=table["table"].unique(), columns=VERDICTS)
    counts = counts.fillna(0).astype(int)
    counts.loc["all"] = counts.sum()
    counts["cells"] = counts.sum(axis=1)
    return counts.rename_axis("table", axis=0).rename_axis(None, axis=1).reset_index()


def remark_numbers(table: pd.DataFrame, remarks: list[str]) -> dict[str, int]:
    """The remarks that some cell has, numbered."""
    in_cells = {remark for remarks_of_cell in table["remarks"] for remark in remarks_of_cell.split(BETWEEN)}
    used = [remark for remark in dict.fromkeys(remarks) if remark in in_cells]
    return {remark: number for number, remark in enumerate(used, 1)}


def rows(table: pd.DataFrame, numbers: dict[str, int]) -> list[list[str]]:
    """The cells as text: printed and ours with their spread, difference or ratio, verdict with its remarks, reason."""
    made = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        notes = "".join(f" [{number}]" for remark, number in numbers.items() if remark in row["remarks"].split(BETWEEN))
        measure = row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else "")
        both = [spread(row[name], row[f"{name}_sd"]) for name in ("published", "ours")]
        named = [row[name] for name in ("table", "variant", "system", "training")]
        made.append([*named, measure, *both, _difference(row), row["verdict"] + notes, row["reason"]])
    return made


def _difference(row: dict) -> str:
    if row["ratio"] is not None:
        return f"ratio {row['ratio']:.3g}"
    if row["difference"] is None:
        return ""
    text = form.fixed(row["difference"], len(row["published"].partition(".")[2]) + 1)
    return f"+{text}" if row["difference"] > 0 else text


def content(table: pd.DataFrame, source: str, remarks: list[str], together: bool) -> list[Block]:
    """The counts, what the verdicts mean, why cells were not run, remarks, then every cell.

    `together`: in one table, for a page that sorts and filters; else in a table for each of the paper's.
    """
    numbers = remark_numbers(table, remarks)
    reasons = table.loc[table["verdict"] == NOT_RUN, "reason"].value_counts(sort=True)
    counted = counts(table)
    blocks: list[Block] = [Paragraph(f"The {len(table)} printed cells of {source}.")]
    blocks.append(Table(columns(counted), [[list(map(str, row)) for row in counted.itertuples(index=False)]]))
    blocks.append(Items([(Span(name, "strong"), f": {rule}.") for name, rule in RULES.items()]))
    if len(reasons):
        blocks.append(Section("Not run", [Items([f"{count}: {reason}" for reason, count in reasons.items()])]))
    if numbers:
        blocks.append(Section("Remarks", [Items([f"[{number}] {remark}" for remark, number in numbers.items()])]))
    cells = rows(table, numbers)
    if together:
        return [*blocks, Section("Cells", [Table(COLUMNS, [cells])])]
    return [*blocks, *(_apart(name, [row for row in cells if row[0] == name]) for name in table["table"].unique())]


def _apart(name: str, cells: list[list[str]]) -> Section:
    """One of the paper's tables, without the columns that are empty."""
    kept = [place for place in range(1, len(COLUMNS)) if any(row[place] for row in cells)]
    rows = [[row[place] for place in kept] for row in cells]
    return Section(name, [Table([COLUMNS[place] for place in kept], [rows])])
