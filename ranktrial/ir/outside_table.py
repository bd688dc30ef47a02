"""Tables from outside, as spreadsheets, R, pandas and evaluation tools write them: the one reader of all of them.

Columns are separated by tabs or, below a heading, by commas or semicolons (then a comma may be the decimal sign), with
quotes as in CSV. JSON lines and parquet are tables whose keys are the heading. A byte order mark, lines that begin with
# and a heading that lacks the name of R's row names are understood. Reads one file, and writes nothing.

MTEB's results of one model, a folder of JSON files {task_name, scores: {split: […]}}, are a table of tasks. The value
of a task is its `main_score` on the test split, or on the only one; of several subsets (languages), the mean, as MTEB's
own tables have it.

The columns of a table of scores have roles by their names: ids, systems, tasks, seeds, measures, values. A long table
has one value per row and names system, task, query, seed or measure in columns; a wide one has a column of values per
system, or per measure. Whatever the table has several of must be named.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError, alike
from ranktrial.common.files import lines
from ranktrial.common.reading import open_bytes
from ranktrial.common.strict_json import read_json
from ranktrial.common.wording import finite, near
from ranktrial.ir.collection import json_lines
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.trec import shown

HEADING = ["task", "main_score"]
TASK, SCORES = "task_name", "scores"
TEST = "test"


def result_files(folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The files below a folder with results of a task, and their content; other files are passed over."""
    for name, path in sorted(files_below(folder).items()):
        if name.endswith(".json"):
            found = read_json(path, any_size=True)
            if isinstance(found, dict) and isinstance(found.get(SCORES), dict) and isinstance(found.get(TASK), str):
                yield path, found


def rows_of_results(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    """Task and score of each file. Raises UserError for a task in two files (revisions), and without a score."""
    seen: dict[str, Path] = {}
    for path, found in result_files(folder):
        task = found[TASK]
        if task in seen:
            raise UserError(f"{path}: {task} is in {seen[task]} too; keep one revision")
        seen[task] = path
        yield path, [task, repr(_score(path, found[SCORES]))]
    if not seen:
        raise UserError(f"{folder}: a folder without results of tasks (JSON files with {TASK} and {SCORES})")


def _score(path: Path, splits: dict[str, Any]) -> float:
    """The mean main score over the subsets of the test split, or of the only one."""
    if TEST not in splits and len(splits) != 1:
        raise UserError(f"{path}: has the splits {', '.join(splits) or 'none'}; expected {TEST}, or one")
    subsets = splits.get(TEST) or next(iter(splits.values()))
    found = [one.get(HEADING[1]) for one in subsets if isinstance(one, dict)] if isinstance(subsets, list) else []
    values = [value for value in found if isinstance(value, int | float) and not isinstance(value, bool)]
    if not values or len(values) < len(found):
        raise UserError(f"{path}: no {HEADING[1]} of each subset")
    return float(sum(values) / len(values))


TAB, COMMA, SEMICOLON = "\t", ",", ";"
COMMENT = "#"
_SEPARATOR = re.compile(r'"?sep=."?')  # the first line that Excel reads, and that tables for it have
PARQUET = b"PAR1"
PANDAS_INDEX = "__index_level_0__"  # in parquet
BATCH = 500  # rows of parquet in memory
IsHeading = Callable[[list[str]], bool]
Numbered = Iterator[tuple[int, list[str]]]


@dataclass
class Table:
    """The heading, if there is one, and the rows below it with their numbers."""

    path: Path
    heading: list[str] | None
    rows: Numbered
    separator: str = ""  # of columns; empty if there is one column, and for JSON lines and parquet
    place: str = "{}:{}"  # of a row: file and number
    first: int = 1  # the row of the heading
    comments: int = 0  # lines above the first row

    def where(self, number: int) -> str:
        """The file and a row, for messages."""
        return self.place.format(self.path, number)

    def number(self, text: str) -> float | None:
        """The finite number in a cell; between semicolons, a comma may be its decimal sign."""
        if self.separator == SEMICOLON and text.count(COMMA) == 1 and "." not in text:
            text = text.replace(COMMA, ".")
        return finite(text)


def read_table(path: Path, is_heading: IsHeading) -> Table:
    """A table, whose rows are read while they are used. `is_heading` recognises the names of columns in a first row.

    Raises UserError, with the row, for a damaged file, quotes that do not close, and a row with more or fewer columns
    than the heading.
    """
    if path.is_dir():
        return _results_table(path)
    with open_bytes(path) as file:
        start = file.read(len(PARQUET))
    if start == PARQUET:
        names = _parquet_names(path)
        return Table(path, names, _parquet_rows(path, names), place="{}: row {}", first=0)
    return table_of_lines(lines(path), path, is_heading)


def table_of_lines(numbered: Iterable[tuple[int, str]], path: Path, is_heading: IsHeading) -> Table:
    """The table in the lines of a file, all or the first of them; JSON lines are read from the file itself."""
    every = iter(numbered)
    comments = 0
    while (line := next(every, None)) and (line[1].startswith(COMMENT) or _SEPARATOR.fullmatch(line[1])):
        comments += 1
    if line is None:
        return Table(path, None, iter(()))
    number, first = line
    if first.lstrip().startswith("{"):
        return _json_table(path)
    separator = _separator(first, is_heading, f"{path}:{number}")
    ahead = next(every, None)
    if not separator and ahead and TAB in ahead[1] and finite(first) is None:
        separator = TAB  # the heading of one column of values beside R's row names
    rows = _rows(every if ahead is None else chain([ahead], every), path, separator)
    fields = split(first, separator, f"{path}:{number}")
    below = list(islice(rows, 2))
    rows = chain(below, rows)
    longer = [len(row) == len(fields) + 1 for _, row in below]
    if longer and all(longer) and not _has_number(fields) and (len(longer) > 1 or not is_heading(fields)):
        fields = ["", *fields]  # R's row names have no heading
    names = _without_empty(fields)
    if not is_heading(names):
        return Table(path, None, chain([(number, fields)], rows), separator, comments=comments)
    found = Table(path, names, iter(()), separator, first=number, comments=comments)
    found.rows = _as_wide(found, rows)
    return found


class WrongQuotes(UserError):
    """The error for a line that is not one of separated values."""


def split(line: str, separator: str, where: str) -> list[str]:
    """The fields of a line. Raises UserError for quotes that do not close."""
    if separator == TAB or (not separator and TAB in line):
        return [_unquoted(field.strip()) for field in line.split(TAB)]
    if not separator:
        return [line.strip()]
    try:
        (fields,) = csv.reader([line], delimiter=separator, strict=True, skipinitialspace=True)
    except csv.Error as error:
        kind = "comma" if separator == COMMA else "semicolon"
        why = "a line break within quotes, or quotes that do not close" if "end of data" in str(error) else error
        raise WrongQuotes(f"{where}: not a line of {kind}-separated values: {why}") from None
    return [field.strip() for field in fields]


def _separator(line: str, is_heading: IsHeading, where: str) -> str:
    """The separator of columns: a tab or, if the line is a heading, a semicolon or comma; empty for one column."""
    if TAB in line:
        return TAB
    for index in ([], [""]):  # R's row names have no heading
        for separator in (SEMICOLON, COMMA):
            roughly = [name.strip().strip('"') for name in line.split(separator)]
            if separator in line and is_heading([*index, *_without_empty(roughly)]):
                split(line, separator, where)  # raises UserError for quotes that do not close
                return separator
    return ""


def _without_empty(fields: list[str]) -> list[str]:
    """The fields of a heading without the empty ones at its end, which spreadsheets add."""
    return fields[: max((place for place, field in enumerate(fields, 1) if field), default=0)]


def _unquoted(field: str) -> str:
    """A field between tabs without the quotes that R writes around text."""
    inner = field[1:-1]
    if len(field) < 2 or field[0] != '"' or field[-1] != '"' or '"' in inner.replace('""', "").replace('\\"', ""):
        return field
    return inner.replace('""', '"').replace('\\"', '"')


def _has_number(fields: list[str]) -> bool:
    return any(finite(field) is not None for field in fields)


def _rows(numbered: Iterator[tuple[int, str]], path: Path, separator: str) -> Numbered:
    for number, line in numbered:
        fields = split(line, separator, f"{path}:{number}")
        if not line.startswith(COMMENT) or finite(fields[-1]) is not None:
            yield number, fields


def _as_wide(table: Table, rows: Numbered) -> Numbered:
    assert table.heading is not None
    for number, fields in rows:
        if not any(fields):
            continue  # an empty row of a spreadsheet
        if not any(fields[len(table.heading) :]):
            fields = fields[: len(table.heading)]
        if len(fields) != len(table.heading):
            expected = f"{len(table.heading)}, as the heading has"
            decimal = table.separator == COMMA and len(fields) == 2 * len(table.heading) - 1
            hint = "; decimal commas need semicolons or tabs between columns" if decimal else ""
            raise UserError(f"{table.where(number)}: {len(fields)} columns; expected {expected}{hint}")
        yield number, fields


def _json_table(path: Path) -> Table:
    """JSON lines: the keys of the first object that has no list or object as value are the columns."""
    records = json_lines(path)
    first = next(records)
    names = [name for name, value in first[1].items() if not isinstance(value, list | dict)]

    def rows() -> Numbered:
        for number, record in chain([first], records):
            yield number, [_cell(record.get(name)) for name in names]

    return Table(path, names, rows())


def _cell(value: Any) -> str:
    """A typed value as text; empty for a missing or nested one."""
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None or isinstance(value, list | dict) else str(value).strip()


def _results_table(folder: Path) -> Table:
    """A folder of MTEB's results: a row per task."""
    rows = ((number, row) for number, (_, row) in enumerate(rows_of_results(folder), 1))
    return Table(folder, list(HEADING), rows, place="{}: task {}", first=0)


def _parquet_names(path: Path) -> list[str]:
    import pyarrow.parquet as parquet
    import pyarrow.types as types

    try:
        schema = parquet.read_schema(path)
    except Exception as error:  # pyarrow raises many kinds
        raise UserError(f"{path}: not a parquet file, or damaged ({_said(error)})") from None
    return [field.name for field in schema if not types.is_nested(field.type)]


def _parquet_rows(path: Path, names: list[str]) -> Numbered:
    import pyarrow.parquet as parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=names):
                for record in batch.to_pylist():
                    number += 1
                    yield number, [_cell(record[name]) for name in names]
    except (OSError, ValueError) as error:  # pyarrow's own are of these
        raise UserError(f"{path}: damaged behind row {number} ({_said(error)})") from None


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


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


def lacks_queries(heading: list[str]) -> str:
    """The message for rows that nothing identifies: the only ids are tasks or names, beside a column that is not
    known; empty if there is a column of queries, or the rows may be tasks."""
    found = roles(heading)
    unknown = [place for place in found.values if heading[place].lower() not in VALUES]
    long = found.system is not None or found.measure is not None or len(unknown) < len(found.values)
    if found.id is not None and (_is_id(heading[found.id]) or not (unknown and long)):
        return ""
    listed = ", ".join(shown(name)[1:-1] for name in heading[:MOST_NAMES])
    return f"no column of queries; the columns are {listed}; expected query, qid, topic, sample, id …"


def is_row_of_names(fields: list[str]) -> bool:
    """Whether fields could be meant as a heading: all are names, or one is of ids."""
    return len(fields) > 1 and (all(map(_is_name, fields)) or any(map(is_id_heading, filter(None, fields))))


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
        ("system", found.system, None if is_column else wanted.column, str),
        ("seed", found.seed, wanted.seed, str),  # those of the system
    ]
    for what, role, name, form in chosen:
        if role is None:
            continue
        names = dict.fromkeys(row[role] for _, row in rows)
        if name is not None and (meant := {name} & names.keys() or {one for one in names if form(one) == form(name)}):
            rows = [(number, row) for number, row in rows if row[role] in meant]
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
    like = alike(name, names) or near(name, names)
    return UserError(
        f"{table.path}: no row of the {what} {shown(name)}; there are {listed}{f' ({like})' if like else ''}"
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
    name = wanted.measure if wanted.measure and found.system is not None else wanted.column
    like = alike(name, names) or near(name, names)
    problem = f"{count} {shown(name)}; the columns of values are {listed}{f' ({like})' if like else ''}"
    raise UserError(f"{where}: {problem}")


def as_id(text: str) -> str:
    """An id from outside: white space, which run files cannot contain, becomes an underscore."""
    return "_".join(text.split())
