"""The values of one system, task, measure and seed in a table of several, wide or long; writes nothing.

The columns have roles by their names (column_roles.py). Whatever the table has several of must be named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from ranktrial.common.characters import alike
from ranktrial.common.errors import UserError
from ranktrial.ir.column_roles import VALUES, Roles, roles
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import Table
from ranktrial.ir.trec import shown

MOST_NAMES = 12  # that a message lists
Cell = tuple[int, str, str]  # row, id and value


@dataclass(frozen=True)
class Wanted:
    """The values to read of a table with several; None if it needs not to be chosen."""

    column: str | None = None  # the heading of a column of values, or the name of a system in a long table
    task: str | None = None
    measure: str | None = None
    seed: str | None = None


def rows_of_roles(
    table: Table, rows: list[tuple[int, list[str]]], found: Roles, place: int, wanted: Wanted
) -> list[Cell]:
    """The rows of the wanted system, task, seed and measure."""
    assert found.id is not None
    heading = table.heading or []
    is_column = wanted.column is not None and wanted.column in heading
    chosen: list[tuple[str, int | None, str | None, Callable[[str], str]]] = [
        ("measure", found.measure, wanted.measure, _measure),
        ("task", None if found.of_tasks else found.task, wanted.task, _plain),
        ("seed", found.seed, wanted.seed, str),
        ("system", found.system, None if is_column else wanted.column, str),
    ]
    for what, role, name, form in chosen:
        if role is None:
            continue
        names = dict.fromkeys(row[role] for _, row in rows)
        if name is not None and form(name) in map(form, names):
            rows = [(number, row) for number, row in rows if form(row[role]) == form(name)]
        elif len(names) > 1 or (what == "system" and name is not None) or _differ(what, name, names):
            raise none_of(table, what, name, names)
    return [(number, as_id(row[found.id]), row[place]) for number, row in rows]


def _measure(name: str) -> str:
    return canonical(name) or name.casefold()


def _plain(name: str) -> str:
    """A name of a task without the signs that a configuration cannot have in names."""
    return re.sub(r"[^a-z0-9]+", "-", name.casefold())


def same_task(name: str, task: str) -> bool:
    """Whether a name in a table is that of a task, but for signs."""
    return _plain(name) == _plain(task)


def _differ(what: str, name: str | None, names: Collection[str]) -> bool:
    """Whether the only measure of a table is another one than the wanted, by their names of ir-measures."""
    return what == "measure" and name is not None and all(map(canonical, [name, *names]))


def none_of(table: Table, what: str, name: str | None, names: Collection[str]) -> UserError:
    listed = ", ".join(shown(one)[1:-1] for one in list(names)[:MOST_NAMES])
    if name is None:
        key = {"system": " by the key `column` of the system"}.get(what, "")
        return UserError(f"{table.path}: has rows of several {what}s, {listed}; name one{key}")
    near = alike(name, names)
    return UserError(
        f"{table.path}: no row of the {what} {shown(name)}; there are {listed}{f' ({near})' if near else ''}"
    )


def roles_in(table: Table) -> Roles:
    """The roles of the columns. Raises UserError without a heading, or without a column of ids."""
    if table.heading is None:
        raise UserError(
            f"{table.where(table.first)}: no heading that begins with the name of the ids, such as query_id"
        )
    found = roles(table.heading)
    if found.id is None:
        listed = ", ".join(shown(name)[1:-1] for name in table.heading[:MOST_NAMES])
        raise UserError(f"{table.where(table.first)}: no column of ids, such as query_id, among {listed}")
    return found


def column_of_values(table: Table, found: Roles, wanted: Wanted) -> int:
    """The place of the values. Raises UserError unless exactly one column is meant."""
    heading = table.heading or []
    places = list(found.values)
    names = [heading[place] for place in places]
    if wanted.column is not None and (found.system is None or wanted.column in names):
        meant = [place for place in places if heading[place] == wanted.column]
    else:
        ways = [
            places,
            [place for place in places if heading[place].strip().lower() in VALUES],
            [place for place in places if wanted.measure and _measure(heading[place]) == _measure(wanted.measure)],
            [place for place in places if wanted.task and _plain(heading[place]) == _plain(wanted.task)],
        ]
        meant = next((way for way in ways if len(way) == 1), [])
    if len(meant) == 1:
        return meant[0]
    where = table.where(table.first)
    listed = ", ".join(shown(name)[1:-1] for name in names[:MOST_NAMES]) or "none"
    if wanted.column is None:
        raise UserError(f"{where}: the columns of values are {listed}; name one by the key `column` of the system")
    count = "no column" if not meant else f"{len(meant)} columns"
    near = alike(wanted.column, names)
    problem = f"{count} {shown(wanted.column)}; the columns of values are {listed}{f' ({near})' if near else ''}"
    raise UserError(f"{where}: {problem}")


def as_id(text: str) -> str:
    """An id from outside: white space, which run files cannot contain, becomes an underscore."""
    return "_".join(text.split())
