"""Published numbers beside ours, a row per number or per cell of a paper's tables; reads and writes nothing.

The table is read as text, so that printed digits stay as they are.
"""

from __future__ import annotations

import pandas as pd

from scripts.reports.writing.content import Folded, Paragraph, Row, Section, Span, Table, columns

DIFFERENT = ("no", "different")  # of a number that is not reproduced


def published(table: pd.DataFrame) -> Section:
    """How many published numbers are reproduced, and all of them."""
    all_of_them = Folded(f"All {len(table)} numbers", [published_table(table)], "published-versus-ours.md")
    return Section("Published numbers", [Paragraph(f"{counts(table)}."), all_of_them], anchor="published")


def counts(table: pd.DataFrame) -> str:
    """How many published numbers are reproduced."""
    if "verdict" in table:
        verdicts = table["verdict"].value_counts(sort=False).items()
        return f"Of {len(table)} published numbers: {', '.join(f'{count} {verdict}' for verdict, count in verdicts)}"
    equal = (table["equal"] == "yes").sum()
    return f"{equal} of {len(table)} published numbers are reproduced to their last digit"


def published_table(table: pd.DataFrame) -> Table:
    """Every published number, ours in the digits printed, and whether they are equal or what the verdict is."""
    cells = "verdict" in table
    rows = [_cell(row) if cells else _number(row) for row in table.to_dict("records")]
    last = columns(["Verdict", "Reason"] if cells else ["Equal", "Note"], words=2)
    heads = columns(["Table", "Row", "Column", "Published", "Ours"], words=3)
    return Table([*heads, *last], [rows], caption="Published numbers and ours, to the digits printed.")


def _cell(row: dict[str, str]) -> Row:
    measure = row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else "")
    place = ", ".join(part for part in (row["variant"], row["system"], row["training"]) if part)
    numbers = [spread(row[name], row[f"{name}_sd"]) for name in ("published", "ours")]
    return [row["table"], place, measure, *numbers, _verdict(row["verdict"]), row["reason"]]


def _number(row: dict[str, str]) -> Row:
    names = ("table", "row", "column", "published", "ours")
    return [*(row[name] for name in names), _verdict(row["equal"]), row["note"]]


def _verdict(text: str) -> Span:
    return Span(text, "strong" if text in DIFFERENT else "")


def spread(value: str | None, sd: str | None) -> str:
    """A number with its standard deviation over seeds, if it has one."""
    return f"{value or ''} ± {sd}" if value and sd else value or ""
