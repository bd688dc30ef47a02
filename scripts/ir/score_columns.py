"""The columns of a file of scores with a heading: ids, and the values of one or several systems; writes nothing.

Columns are separated by tabs, or by commas with quoting as in CSV.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.numerals import finite
from scripts.ir.trec import shown

HEADINGS = {"id", "index", "idx", "key", "name", "pair", "qid", "query", "sample", "example", "item", "uid", "guid",
            "question", "topic", "task", "dataset"}  # fmt: skip
MOST_NAMES = 12  # that a message lists


def is_id_heading(name: str) -> bool:
    """Whether a field of a heading is the name of an id column."""
    parts = name.lower().replace("-", "_").replace(" ", "_").strip("_").split("_")
    return set(parts) <= HEADINGS or parts[-1].removesuffix("id") in HEADINGS | {""}


def is_csv(line: str) -> bool:
    """Whether a file's first line is a heading of comma-separated columns."""
    if "\t" in line or "," not in line:
        return False
    names = [name.strip().strip('"') for name in line.split(",")]
    return is_id_heading(names[0]) and all(finite(name) is None for name in names[1:])


def split_columns(line: str, tabs: bool, where: str) -> list[str]:
    """The fields of a line, between tabs or of CSV. Raises UserError for quotes that do not close."""
    if tabs:
        return [field.strip() for field in line.split("\t")]
    try:
        (fields,) = csv.reader([line], strict=True, skipinitialspace=True)
    except csv.Error as error:
        raise UserError(f"{where}: not a line of comma-separated values ({error})") from None
    return [field.strip() for field in fields]


def chosen_column(lines: Iterator[tuple[int, str]], path: Path, column: str | None) -> Iterator[tuple[int, list[str]]]:
    """The lines below the heading with their number: an id and the value of `column`, or of the only column.

    Raises UserError, with the line, if the heading lacks the column, and for a line with more or fewer columns.
    """
    number, first = next(lines)
    tabs = "\t" in first
    heading = split_columns(first, tabs, f"{path}:{number}")
    position = _position(heading, column, f"{path}:{number}")
    for number, line in lines:
        fields = split_columns(line, tabs, f"{path}:{number}")
        if len(fields) != len(heading):
            raise UserError(f"{path}:{number}: {len(fields)} columns; expected {len(heading)}, as the heading has")
        yield number, [fields[0], fields[position]]


def _position(heading: list[str], column: str | None, where: str) -> int:
    """The position of the values. Raises UserError unless the heading has ids first and the column exactly once."""
    ids, *names = heading
    if not is_id_heading(ids):
        problem = "expected a heading that begins with the name of the ids, such as query_id"
        raise UserError(f"{where}: the first column is {shown(ids)}; {problem}")
    if column is None and len(names) == 1:
        return 1
    if column is not None and names.count(column) == 1:
        return 1 + names.index(column)
    listed = ", ".join(shown(name)[1:-1] for name in names[:MOST_NAMES]) or "none"
    if column is None:
        raise UserError(f"{where}: the columns of values are {listed}; name one by the key `column` of the system")
    count = "no column" if column not in names else f"{names.count(column)} columns"
    raise UserError(f"{where}: {count} {shown(column)}; the columns of values are {listed}")
