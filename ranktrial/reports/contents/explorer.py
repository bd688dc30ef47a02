"""Links from the report into the explorer, and the queries with the largest gains and losses.

Reads and writes nothing. The explorer is the folder beside the report (scripts/explorer).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlencode

import pandas as pd

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.lines import unmarked
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.writing.content import EXPLORER, Block, Cell, Column, Folded, Paragraph, Row, Span, Table

TO_EXPLORER = Paragraph(
    (
        "Each query or sample with its values and, if there are runs, the rankings of the systems with their "
        "unjudged documents: ",
        Span("explorer", link=EXPLORER),
        " (the folder beside this page).",
    )
)


def state(comparison: str, task: str, query: str = "") -> str:
    """The link to a state of the explorer."""
    keys = {"c": comparison, "t": task} | ({"q": query} if query else {})
    return f"{EXPLORER}#{urlencode(keys)}"


def linked(table: Table, links: Mapping[str, str]) -> Table:
    """The table with a link in the first cell of each row that has one."""
    blocks = [[_linked(row, links) for row in block] for block in table.blocks]
    return replace(table, blocks=blocks)


def _linked(row: Row, links: Mapping[str, str]) -> Row:
    first, *others = row
    link = links.get(unmarked(first)) if isinstance(first, str) else None
    return [Span(first, link=link), *others] if link else row


def extreme_queries(name: str, found: pd.DataFrame, sides: tuple[str, str], labels: Labels) -> list[Block]:
    """The queries with the largest gains and losses of a comparison; nothing if there are none."""
    own = found[found["comparison"] == name]
    if own.empty:
        return []
    columns = [Column("Query"), Column("Task"), *(Column(side, "r") for side in sides), Column("Difference", "r")]
    rows = [_query(record, labels) for record in own.to_dict("records")]
    caption = f"{name}: the queries of all tasks with the largest wins and losses, at most ten each; "
    caption += "of equal ones, those of each task in turn."
    table = Table(columns, [rows], caption=caption, source="tables/extreme-queries.tsv")
    return [Folded("Queries won and lost most", [table], "tables/extreme-queries.tsv")]


def _query(record: dict, labels: Labels) -> Row:
    link = state(record["comparison"], record["task"], record["query_id"])
    values = [form.minus(f"{record[side]:.3f}") for side in ("control", "treatment")]
    difference = Cell(form.minus(f"{record['difference']:+.3f}"), record["difference"])
    text = record["text"] if isinstance(record["text"], str) else record["query_id"]  # no text is a missing value
    return [Span(text, link=link), labels.task(record["task"]), *values, difference]
