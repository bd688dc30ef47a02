"""The first rows of a table of values: the roles of its columns, and those that hold numbers; writes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.ir.column_roles import VALUES, Roles, is_heading, roles, roles_without_heading
from ranktrial.ir.outside_table import read_table, table_of_lines

ROWS = 50
METRICS = "metrics"  # the names of the measures in each line of lm-evaluation-harness's samples


NAMED = (".csv", ".tsv", ".txt", "")  # endings of files that are meant to be tables


class Start(NamedTuple):
    """The roles of the columns, and the names of those with numbers; `metrics` if the table itself lists these."""

    roles: Roles
    values: list[str]
    metrics: bool = False

    @property
    def is_long(self) -> bool:
        """Whether rows name systems, tasks, measures or seeds."""
        places = (self.roles.system, self.roles.measure, self.roles.seed)
        by_task = self.roles.task is not None and not self.roles.of_tasks
        return by_task or any(place is not None for place in places)

    @property
    def measures(self) -> list[str]:
        """The columns of values that are named after measures, unlike `value`."""
        return [name for name in self.values if name.lower() not in VALUES]


def start_of_table(path: Path, lines: Sequence[tuple[int, str]], parquet: bool) -> Start | None:
    """The start of a table with a heading, or of three columns that name measures; None for any other file.

    Raises UserError, with the row, for one with another number of columns than the heading.
    """
    try:
        table = read_table(path, is_heading) if parquet else table_of_lines(lines, path, is_heading)
        rows = [row for _, row in islice(table.rows, ROWS)]
    except UserError:
        if parquet or lines[0][1].lstrip().startswith("{") or path.suffix.lower() not in NAMED:
            return None  # other data, not even JSON, or a file that nobody called a table
        raise
    if table.heading is None:
        of_three = roles_without_heading(rows) if rows and all(len(row) == 3 for row in rows) else None
        return Start(of_three, ["value"]) if of_three else None
    found = roles(table.heading)
    if found.id is None or not rows:
        return None
    if listed := _metrics(lines):
        return Start(found, [name for name in listed if name in table.heading], True)
    numbers = [
        place for place in found.values if 2 * sum(table.number(row[place]) is not None for row in rows) >= len(rows)
    ]
    return Start(found, [table.heading[place] for place in numbers])


def _metrics(lines: Sequence[tuple[int, str]]) -> list[str]:
    try:
        record = json.loads(lines[0][1]) if lines and lines[0][1].startswith("{") else {}
    except (ValueError, RecursionError):
        return []
    listed = record.get(METRICS) if isinstance(record, dict) else None
    return [str(name) for name in listed] if isinstance(listed, list) else []
