"""Reads external values per sample: one value per line, or a table of one or several systems, wide or long."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.wording import integer
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import (
    Cell,
    Table,
    Wanted,
    as_id,
    column_of_values,
    is_heading,
    is_summary,
    lacks_queries,
    none_of,
    read_table,
    roles,
    roles_in,
    roles_without_heading,
    rows_of_roles,
    same_task,
)
from ranktrial.ir.trec import shown, why_no_id

EXPECTED = "one value per line, or id, tab and value"
PERCENT = 100
RATIO = (20, 500)  # of a mean in percent and a mean as a fraction
LINE = "line "  # prefix of the ids of samples without an id; ids from a file have no space


@dataclass(frozen=True)
class Values:
    """Sample id -> value, in file order, and how the table was read where this may be doubted."""

    scores: dict[str, float]
    remarks: list[str] = field(default_factory=list)


@lru_cache(1)
def parsed(path: Path, *version: int) -> tuple[Table, list[tuple[int, list[str]]]]:
    """A table with all its rows, of which a long one may be asked for each system on each task."""
    table = read_table(path, is_heading)
    return table, list(table.rows)


def _table(path: Path) -> Table:
    """The table of a file, whose rows are parsed once for all that is read of it in turn."""
    try:
        found = path.stat()
        table, rows = parsed(path, found.st_mtime_ns, found.st_size, found.st_ino)
    except (UserError, OSError):  # which are raised again, in the order of what is read
        return read_table(path, is_heading)
    return replace(table, rows=iter(rows))


def read_scores(path: Path, column: str | None = None) -> dict[str, float]:
    """Sample id -> value, in file order; samples of a file without ids get `line 1`, `line 2`, …."""
    return read_values(path, Wanted(column)).scores


def read_values(path: Path, wanted: Wanted) -> Values:
    """The values of a system on a task, without rows of means.

    Raises UserError, with the line, for a value that is not a finite number in decimal digits, a duplicate id, lines
    of different kinds, columns of which none is wanted, and a blank line in a file without ids, which would shift the
    lines below.
    """
    table = _table(path)
    cells = _of_heading(table, wanted) if table.heading else _without_heading(table, wanted)
    cells, summaries = _without_summaries(table, cells)
    scores: dict[str, float] = {}
    _check_signs(table, cells)
    for number, name, text in cells:
        where = table.where(number)
        value = table.number(text)
        if value is None:
            raise UserError(f"{where}: value {shown(text)} {_why_no_value(text, table)}")
        if not name:
            raise UserError(f"{where}: the sample has no id")
        if name in scores:
            raise UserError(f"{where}: {lacks_queries(table.heading or ['id']) or _why_twice(name, wanted)}")
        if not name.startswith(LINE) and (reason := why_no_id(name)):
            raise UserError(f"{where}: the id {shown(name)} {reason}")
        scores[name] = value
    if not scores:
        raise UserError(f"{path}: no values")
    left = [f"the row {name} is taken for a mean of the others and is left out" for name in summaries]
    return Values(scores, left)


def check_column(path: Path, column: str) -> None:
    """Raise UserError, with the line, if a file of scores lacks the column; a long table is read to its end."""
    table = read_table(path, is_heading)
    found = roles_in(table)
    if found.system is None:
        column_of_values(table, found, Wanted(column))
    elif column not in (names := dict.fromkeys(row[found.system] for _, row in table.rows)):
        raise none_of(table, "system", column, names)


class Named(NamedTuple):
    """What the rows of a long table name, in file order; empty for a role that no column has."""

    systems: list[str]
    tasks: list[str]
    measures: list[str]
    seeds: list[str]


def named_in(path: Path) -> Named:
    """The systems, tasks, measures and seeds that a table names in columns; it is read to its end."""
    table = _table(path)
    rows = [row for _, row in table.rows]
    found = roles(table.heading) if table.heading else None
    if table.heading is None and all(len(row) == 3 for row in rows):
        found = roles_without_heading(rows)
    if found is None:
        return Named([], [], [], [])
    task = None if found.of_tasks else found.task
    places = (found.system, task, found.measure, found.seed)
    return Named(*([] if at is None else list(dict.fromkeys(row[at] for row in rows)) for at in places))


def has_several_tasks(path: Path, task: str) -> bool:
    """Whether a table has rows or columns of several tasks, of which `task` chooses; only its heading is read."""
    try:
        table = read_table(path, is_heading)
    except UserError:  # of a run, or of a damaged file, which its job reports
        return False
    found = roles(table.heading) if table.heading else None
    if table.heading is None or found is None or found.of_tasks:
        return False
    return found.task is not None or any(same_task(table.heading[place], task) for place in found.values)


def seeds_in(path: Path, wanted: Wanted) -> list[str]:
    """The seeds of what is wanted of a long table; only its heading is read of a table without a column of seeds."""
    table = read_table(path, is_heading)
    place = roles(table.heading).seed if table.heading else None
    if place is None:
        return []
    cells = rows_of_roles(table, list(_table(path).rows), replace(roles_in(table), seed=None), place, wanted)
    return list(dict.fromkeys(seed for _, _, seed in cells))


def _without_heading(table: Table, wanted: Wanted) -> list[Cell]:
    """The rows of a file without a heading: values, ids and values, or measures, ids and values."""
    rows = list(table.rows)
    width = len(rows[0][1]) if rows else 0
    long = (
        roles_without_heading([row for _, row in rows]) if width == 3 and {len(row) for _, row in rows} == {3} else None
    )
    if long:
        return rows_of_roles(table, rows, long, 2, wanted)
    if wanted.column is not None and rows:
        roles_in(table)  # raises UserError
    for place, (number, row) in enumerate(rows, 1):
        if len(row) != width or width > 2:
            raise UserError(
                f"{table.where(number)}: {len(row)} columns; expected {EXPECTED}, or columns with a heading"
            )
        if width == 1 and number != place + table.comments:
            problem = "a blank line; values without ids are paired by their lines: remove it, or give id, tab and value"
            raise UserError(f"{table.where(place + table.comments)}: {problem}")
    if width == 1:
        return [(number, f"{LINE}{place}", row[0]) for place, (number, row) in enumerate(rows, 1)]
    return [(number, as_id(row[0]), row[1]) for number, row in rows]


def _of_heading(table: Table, wanted: Wanted) -> list[Cell]:
    found = roles_in(table)
    place = column_of_values(table, found, wanted)
    return rows_of_roles(table, list(table.rows), found, place, wanted)


def _without_summaries(table: Table, cells: list[Cell]) -> tuple[list[Cell], list[str]]:
    """The rows without those of means, which are first or last, and the names of these. UserError if all are means."""
    first, last = 0, len(cells)
    while first < last and is_summary(cells[first][1]):
        first += 1
    while last > first and is_summary(cells[last - 1][1]):
        last -= 1
    if cells and first == last:
        problem = f"has means alone ({cells[0][1]}); expected one value per query, as `trec_eval -q` writes"
        raise UserError(f"{table.path}: {problem}")
    return cells[first:last], [name for _, name, _ in (*cells[:first], *cells[last:])]


def _check_signs(table: Table, cells: list[Cell]) -> None:
    """Raise UserError if some values have a decimal comma and others a point, which may separate thousands."""
    comma = next((number for number, _, text in cells if "," in text), None)
    if comma is not None and table.separator == ";" and any("." in text for _, _, text in cells):
        raise UserError(f"{table.where(comma)}: a decimal comma, and other values have a decimal point; expected one")


def _why_twice(name: str, wanted: Wanted) -> str:
    of = {"task": wanted.task, "system": wanted.column, "measure": wanted.measure}
    named = ", ".join(f"{what} {one}" for what, one in of.items() if one)
    return f"duplicate id {name}" + (f" ({named})" if named else "")


def _why_no_value(text: str, table: Table) -> str:
    try:
        if not math.isfinite(float(text)):
            return "is not finite"
    except ValueError:
        pass
    problem = "is not a number; expected decimal digits with a point, such as 0.25"
    if not text and table.heading and len(table.heading) > 2:
        return f"{problem} (columns whose samples differ need a file each)"
    if ";" in text:
        return f"{problem} (columns between semicolons need a heading that begins with the name of the ids)"
    if "," in text and not table.heading and not table.separator:
        return f"{problem} (a heading calls its first column id; decimal commas need semicolons between columns)"
    return problem if table.heading else f"{problem} (a heading calls its first column id)"


def are_counted(ids: Collection[str]) -> bool:
    """Whether ids are line numbers, or 1, 2, … or 0, 1, …, which tasks of equal length share by chance."""
    if all(name.startswith(LINE) for name in ids):
        return True
    numbers = {integer(name) for name in ids}
    return any(numbers == set(range(first, first + len(ids))) for first in (0, 1))


def check_pairs(control: list[str], treatment: list[str], task: str) -> None:
    """Raise UserError if the samples of two systems, given by their ids, cannot be paired.

    Either both or neither have ids. Without ids, both need the same number of values, from line 1 on.
    """
    control_by_line, treatment_by_line = (any(name.startswith(LINE) for name in ids) for ids in (control, treatment))
    if control_by_line != treatment_by_line:
        with_ids, without_ids = ("treatment", "control") if control_by_line else ("control", "treatment")
        raise UserError(f"task {task}: the scores of the {with_ids} have ids and those of the {without_ids} have none")
    if control_by_line:
        remedy = "give the same samples, or two columns with a tab, id and value"
        if len(control) != len(treatment):
            counts = f"control has {len(control)} scores and treatment {len(treatment)}"
            raise UserError(f"task {task}: {counts}; without ids they cannot be paired: {remedy}")
        for ids, system in ((control, "control"), (treatment, "treatment")):
            if ids != [f"{LINE}{number}" for number in range(1, len(ids) + 1)]:
                raise UserError(f"task {task}: lines of the {system} are missing; they cannot be paired: {remedy}")


def check_scales(of_systems: Mapping[str, Sequence[float]], task: str, measure: str) -> None:
    """Raise UserError if the values of one system are fractions and those of another percentages.

    These are recognised by their ranges and a ratio of their means that no two systems have on one scale. Measures
    that count documents are not looked at.
    """
    if (canonical(measure) or "").startswith("Num"):
        return
    found = {name: (min(values), max(values), sum(values) / len(values)) for name, values in of_systems.items()}
    for first, (low, high, mean) in found.items():
        for second, (least, most, average) in found.items():
            is_pair = low >= 0 and least >= 0 and 0 < high <= 1 < most <= PERCENT and mean > 0
            if is_pair and RATIO[0] <= average / mean <= RATIO[1]:
                ranges = f"of {first} are at most {high:g} (mean {mean:.3g}), those of {second} at most {most:g}"
                problem = f"{ranges} (mean {average:.3g}): fractions and percentages? give all on one scale"
                raise UserError(f"task {task}: the values {problem}")
