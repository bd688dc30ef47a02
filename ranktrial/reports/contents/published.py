"""Published numbers beside ours, a row per number or, with a mapping, per cell of a paper's tables.

Reads and writes nothing. The table is read as text, so that printed digits stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import pandas as pd

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.published_numbers.cells import (
    BETWEEN,
    DIFFERENT,
    EQUAL,
    MACHINE,
    NOT_RUN,
    SPREAD,
    VERDICTS,
    WIDTH,
)
from ranktrial.reports.writing.content import (
    Block,
    Column,
    Folded,
    Items,
    Paragraph,
    Row,
    Section,
    Span,
    Table,
    bulleted,
    columns,
)

FAULT = "a fault: the texts are the same, so the score should be, too; queries or judgements may differ"
RULES = {
    EQUAL: "ours, rounded to the printed digits (halves away from zero), equals the printed number",
    SPREAD: f"within {WIDTH} standard deviations over seeds of the printed number: the printed standard deviation "
    f"or, if "
    "none is printed, ours",
    DIFFERENT: "further away, or the spread over seeds is unknown",
    MACHINE: "times, which cannot be reproduced on another machine; compare the ratio of ours to theirs, and the "
    "ratios "
    "between models",
    NOT_RUN: "this experiment has no such number; the reason is given beside it",
}
_NUMBERS = [
    *columns(["table", "row", "column", "published", "ours"], words=3),
    *(
        Column("equal"),
        Column("mark"),
        Column("our mark"),
        Column("marks equal"),
        Column("comparison"),
        Column("beside", "r"),
        Column("note"),
        Column("not rounded", "r"),
    ),
]
_CELLS = [
    *columns(["table", "variant", "system", "training", "measure", "published", "ours", "difference"], words=5),
    *columns(["verdict", "reason"], words=2),
]


def published(table: pd.DataFrame) -> Section:
    """How many published numbers are reproduced, and all of them."""
    blocks: list[Block] = [Paragraph(f"{counts(table)}.")]
    if numbers := content(table, together=True):
        blocks.append(Folded(f"All {len(table)} numbers", numbers, "published-versus-ours.md"))
    return Section("Published numbers", blocks, anchor="published")


def counts(table: pd.DataFrame) -> str:
    """How many published numbers are reproduced."""
    if "verdict" in table:
        verdicts = Counter(table["verdict"]).items()
        return f"Of {len(table)} published numbers: {', '.join(f'{count} {verdict}' for verdict, count in verdicts)}"
    if table.empty:
        return "No published number belongs to a task of this experiment"
    equal = (table["equal"] == "yes").sum()
    said = f"{equal} of {len(table)} published numbers are reproduced to their last digit"
    faults = [f"{row['row']} {row['column']}" for row in table.to_dict("records") if row["note"] == FAULT]
    if faults:
        said += f"; {len(faults)} differ although the texts are the same: {'; '.join(faults)}"
    tested = table[table["marks_equal"] != ""] if "marks_equal" in table else table[:0]
    agreeing = (tested["marks_equal"] == "yes").sum() if len(tested) else 0
    marks = f"; {agreeing} of {len(tested)} marks of significance, or their absence, agree" if len(tested) else ""
    return said + marks


def content(table: pd.DataFrame, together: bool) -> list[Block]:
    """An explanation of the numbers, then all of them; nothing if there are none.

    `together`: in one table, for a page that sorts and filters; else in a table for each of the paper's.
    """
    if table.empty:
        return []
    records = table.to_dict("records")
    if "verdict" in table:
        numbers = remark_numbers(row["remarks"] for row in records)
        blocks, heads, rows = _about_cells(table, numbers), _CELLS, [_cell(row, numbers) for row in records]
    else:
        blocks, heads, rows = _about_numbers(records), _NUMBERS, [_number(row) for row in records]
    if together:
        return [*blocks, _filled(heads, rows)]
    apart = {name: [row for row in rows if row[0] == name] for name in table["table"].unique()}
    return [*blocks, *(Section(name, [_filled(heads[1:], [row[1:] for row in own])]) for name, own in apart.items())]


def _filled(heads: Sequence[Column], rows: Sequence[Row]) -> Table:
    """A table without the columns that are empty."""
    kept = [place for place in range(len(heads)) if any(row[place] for row in rows)]
    return Table([heads[place] for place in kept], [[[row[place] for place in kept] for row in rows]])


def _about_numbers(records: list[dict[str, str]]) -> list[Block]:
    pairs = sorted({(row["comparison"], row["beside_comparison"]) for row in records if row["beside_comparison"]})
    replaced = ", ".join(f"{second} for {ours}" for ours, second in pairs)
    said = f"The second column has the number of another comparison, to the same digits: {replaced}."
    return [Paragraph(said)] if pairs else []


def _number(row: dict[str, str]) -> Row:
    names = ("table", "row", "column", "published", "ours")
    equal = row["equal"] == "yes"
    verdict = Span(row["equal"], "" if equal else "strong")
    of_marks = row.get("marks_equal", "")
    marks = (row.get("mark", ""), row.get("our_mark", ""), Span(of_marks, "strong") if of_marks == "no" else of_marks)
    further = (row["comparison"], row["beside"], row["note"], "" if equal else row["ours_in_full"])
    return [*(row[name] for name in names), verdict, *marks, *further]


def _about_cells(table: pd.DataFrame, numbers: dict[str, int]) -> list[Block]:
    """The counts, the meaning of the verdicts, why cells were not run, and remarks."""
    reasons = Counter(table.loc[table["verdict"] == NOT_RUN, "reason"]).most_common()
    not_run = [f"{count}: {reason}" for reason, count in reasons]
    remarks = [f"[{number}] {remark}" for remark, number in numbers.items()]
    further = {"Not run": not_run, "Remarks": remarks}
    return [
        counts_table(table),
        Items([(Span(name, "strong"), f": {rule}.") for name, rule in RULES.items()]),
        *(Section(title, bulleted(lines)) for title, lines in further.items() if lines),
    ]


def counts_table(table: pd.DataFrame) -> Table:
    """How many cells of each table, and of all, have each verdict."""
    parts = {**{str(name): part for name, part in table.groupby("table", sort=False)}, "all": table}
    counted = {name: Counter(part["verdict"]) for name, part in parts.items()}
    rows = [
        [name, *(str(verdicts[verdict]) for verdict in VERDICTS), str(verdicts.total())]
        for name, verdicts in counted.items()
    ]
    return Table(columns(["table", *VERDICTS, "cells"]), [rows[:-1]], foot=rows[-1:])


def remark_numbers(remarks: Iterable[str]) -> dict[str, int]:
    """The remarks that cells have, numbered."""
    found = dict.fromkeys(remark for of_cell in remarks for remark in of_cell.split(BETWEEN) if remark)
    return {remark: number for number, remark in enumerate(found, 1)}


def _cell(row: dict[str, str], numbers: dict[str, int]) -> Row:
    """Printed and ours with their spread, difference or ratio, verdict with its remarks, reason."""
    measure = row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else "")
    both = [row[of] + (f" ± {row[f'{of}_sd']}" if row[f"{of}_sd"] else "") for of in ("published", "ours")]
    remarks = "".join(f" [{numbers[remark]}]" for remark in row["remarks"].split(BETWEEN) if remark)
    verdict = (Span(row["verdict"], "strong" if row["verdict"] == DIFFERENT else ""), remarks)
    place = [row[name] for name in ("table", "variant", "system", "training")]
    return [*place, measure, *both, _difference(row), verdict, row["reason"]]


def _difference(row: dict[str, str]) -> str:
    if row["ratio"]:
        return f"ratio {float(row['ratio']):.3g}"
    if not row["difference"]:
        return ""
    difference = float(row["difference"])
    text = form.fixed(difference, len(row["published"].partition(".")[2]) + 1)
    return f"+{text}" if difference > 0 else text
