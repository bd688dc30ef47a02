"""Two columns of a table from outside: ids and what each has, such as the clusters of queries; writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.ir.column_roles import is_id_heading, roles
from ranktrial.ir.outside_table import read_table


def paired_columns(path: Path, names: Collection[str], expected: str) -> Iterator[tuple[str, str, str]]:
    """The place of each row, its id and its value, below a heading with one of `names` or in two columns without.

    Raises UserError, with the row and what is `expected`, for a row of another form and for a duplicate id.
    """

    def is_heading(fields: list[str]) -> bool:
        return any(map(is_id_heading, fields)) and any(field.lower() in names for field in fields)

    table = read_table(path, is_heading)
    ids, values = 0, 1
    if table.heading is not None:
        found = roles(table.heading)
        values = next(place for place, name in enumerate(table.heading) if name.lower() in names)
        if found.id is None or found.id == values:
            raise UserError(f"{table.where(table.first)}: no column of ids; expected {expected}")
        ids = found.id
    seen: set[str] = set()
    for number, row in table.rows:
        where = table.where(number)
        if len(row) != len(table.heading or "12") or not row[ids] or not row[values]:
            raise UserError(f"{where}: expected {expected}")
        if row[ids] in seen:
            raise UserError(f"{where}: duplicate query {row[ids]}")
        seen.add(row[ids])
        yield where, row[ids], row[values]
