"""Tables of scores from outside by the names of their columns: roles, pairs of columns, the values of one system.

What the columns of a table of scores are, by their names: ids, systems, tasks, seeds, measures, values.

A long table has one value per row and names system, task, query, seed or measure in columns; a wide one has a column of
values per system, or per measure.

Two columns of a table from outside: ids and what each has, such as the clusters of queries; writes nothing.

The values of one system, task, measure and seed in a table of several, wide or long; writes nothing.

The columns have roles by their names (see above). Whatever the table has several of must be named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ranktrial.common.errors import UserError, alike
from ranktrial.common.wording import finite
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import PANDAS_INDEX, Table, read_table
from ranktrial.ir.trec import shown

IDS = {"id", "key", "pair", "qid", "query", "sample", "example", "item", "uid", "guid", "question", "topic"}
INDICES = {"index", "idx", "rownames", "rowname", "row_names", "row", PANDAS_INDEX.strip("_")}  # beside an id
TASKS = {"task", "task_name", "dataset", "dataset_name", "collection", "benchmark"}
SYSTEMS = {"system", "system_name", "model", "model_name", "run", "run_id", "runid", "run_name", "method",
           "model_id", "system_id"}  # fmt: skip
SEEDS = {"seed", "random_seed", "run_seed", "replicate", "repetition"}
MEASURES = {"measure", "metric", "measure_name", "metric_name"}
VALUES = {"value", "score"}
NAME = "name"  # of a system in PyTerrier's table per query, of a sample in others
_SUMMARY = re.compile(r"(all|overall|total|((macro|micro)[- ])?(average|avg\.?|mean))( \(.*\))?", re.IGNORECASE)
NO_HEADINGS = {"na", "nan", "n/a", "nil", "null", "none", "inf", "infinity", "true", "false", "yes", "no", "missing"}
_MISREAD = str.maketrans("oil", "011")  # O.5 is a misspelt value, not a heading


@dataclass(frozen=True)
class Roles:
    """The places of the columns; `values` are those of no other role."""

    id: int | None
    system: int | None
    task: int | None
    seed: int | None
    measure: int | None
    values: tuple[int, ...]

    @property
    def of_tasks(self) -> bool:
        """Whether the rows are tasks, not queries or samples."""
        return self.id is not None and self.id == self.task


def _words(name: str) -> str:
    return name.lower().replace("-", "_").replace(" ", "_").strip("_.")


def _is_index(name: str) -> bool:
    return not name or _words(name) in INDICES or _words(name).startswith("unnamed:")


def _is_id(name: str) -> bool:
    words = _words(name)
    parts = words.split("_")
    if words in SYSTEMS | SEEDS | TASKS | MEASURES | VALUES:
        return False
    by_number = parts[-1].endswith("id") and parts[-1].removesuffix("id") in IDS | {"", "doc", "document"}
    return by_number or (bool(IDS & set(parts)) and set(parts) <= IDS | {"index", "idx", "name"})


def is_id_heading(name: str) -> bool:
    """Whether a field of a heading is the name of a column of ids, which may be tasks."""
    words = _words(name)
    return _is_index(name) or _is_id(name) or words in TASKS or words == NAME


def is_heading(fields: list[str]) -> bool:
    """Whether fields are names of columns with one of ids among them. A row with an invalid value is not a heading."""
    others = [field for place, field in enumerate(fields) if not is_id_heading(field) or (place and not field)]
    return len(others) < len(fields) > 1 and all(map(_is_name, others))


def _is_name(field: str) -> bool:
    words = field.lower()
    return any(map(str.isalpha, words)) and finite(words.translate(_MISREAD)) is None and words not in NO_HEADINGS


def roles(heading: list[str]) -> Roles:
    """The roles of columns by their names."""

    def first(names: set[str]) -> int | None:
        return next((place for place, name in enumerate(heading) if _words(name) in names), None)

    ids = [place for place, name in enumerate(heading) if _is_id(name)]
    indices = [place for place, name in enumerate(heading) if _is_index(name)]
    task, seed, measure, system = (first(names) for names in (TASKS, SEEDS, MEASURES, SYSTEMS))
    named = first({NAME})
    if system is None and named is not None and (ids or task is not None):
        system, named = named, None
    candidates = [place for place in (*ids[:1], task, named, *indices[:1]) if place is not None]
    chosen = candidates[0] if candidates else None
    taken = {chosen, system, task, seed, measure, *indices}
    return Roles(chosen, system, task, seed, measure, tuple(p for p in range(len(heading)) if p not in taken))


def roles_without_heading(rows: list[list[str]]) -> Roles | None:
    """The roles of three columns of `trec_eval -q` (measure, query, value) or ir_measures (query, measure, value)."""
    first, second = (_are_measures({row[place] for row in rows}) for place in (0, 1))
    if first == second:
        return None
    return Roles(1 if first else 0, None, None, None, 0 if first else 1, (2,))


def _are_measures(names: Iterable[str]) -> bool:
    return any(canonical(name) for name in names if not name.isdigit())


def is_summary(name: str) -> bool:
    """Whether a row of this id is a mean over the others, such as `all`, the last one of `trec_eval -q`."""
    return _SUMMARY.fullmatch(name.replace("_", " ").strip()) is not None


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
