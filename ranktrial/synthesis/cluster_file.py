"""Reads a file of clusters of queries: a table of query ids and the names of their clusters; writes nothing."""

from __future__ import annotations

from pathlib import Path

from ranktrial.ir.paired_columns import paired_columns

HEADINGS = ("cluster", "group")
EXPECTED = "a query id, a tab and the name of its cluster"


def read_clusters(path: Path) -> dict[str, str]:
    """Query id -> cluster. Raises UserError with the line for a line of another form."""
    return {query: cluster for _, query, cluster in paired_columns(path, HEADINGS, EXPECTED)}
