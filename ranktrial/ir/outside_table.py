"""Tables from outside, as spreadsheets, R, pandas and evaluation tools write them: the one reader of all of them.

Columns are separated by tabs or, below a heading, by commas or semicolons (then a comma may be the decimal sign), with
quotes as in CSV. JSON lines and parquet are tables whose keys are the heading. A byte order mark, lines that begin with
# and a heading that lacks the name of R's row names are understood. Reads one file, and writes nothing.

MTEB's results of one model as a table of tasks: a folder of JSON files, {task_name, scores: {split: […]}}.

The value of a task is its `main_score` on the test split, or on the only one; of several subsets (languages), the mean,
as MTEB's own tables have it. Reads these files, and writes nothing.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import open_bytes
from ranktrial.common.strict_json import read_json
from ranktrial.common.wording import finite
from ranktrial.ir.collection import json_lines

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
    while (line := next(every, None)) and line[1].startswith(COMMENT):
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
    if not is_heading(fields):
        return Table(path, None, chain([(number, fields)], rows), separator, comments=comments)
    found = Table(path, fields, iter(()), separator, first=number, comments=comments)
    found.rows = _as_wide(found, rows)
    return found


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
        raise UserError(f"{where}: not a line of {kind}-separated values ({error})") from None
    return [field.strip() for field in fields]


def _separator(line: str, is_heading: IsHeading, where: str) -> str:
    """The separator of columns: a tab or, if the line is a heading, a semicolon or comma; empty for one column."""
    if TAB in line:
        return TAB
    for separator in (SEMICOLON, COMMA):
        if separator in line:
            roughly = [name.strip().strip('"') for name in line.split(separator)]
            if not (is_heading(roughly) or is_heading(["", *roughly])):
                return ""
            split(line, separator, where)  # raises UserError for quotes that do not close
            return separator
    return ""


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
