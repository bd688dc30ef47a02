"""Reads per-sample scores of other tools: one value per line, or columns with tabs or commas, ids first."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.numerals import finite, integer
from scripts.ir.score_columns import chosen_column, is_csv, is_id_heading
from scripts.ir.trec import shown, why_no_id

EXPECTED = "one value per line, or id, tab and value"
SEVERAL = "id, tab and value, or a heading and the key `column` of the system, which names the column of its values"
LINE = "line "  # prefix of the ids of samples without an id; ids from a file have no space
NO_HEADINGS = {"na", "nan", "n/a", "nil", "null", "none", "inf", "infinity", "true", "false", "yes", "no", "missing"}
_MISREAD = str.maketrans("oil", "011")  # O.5 is a misspelt value, not a heading


def read_scores(path: Path, column: str | None = None) -> dict[str, float]:
    """Sample id -> value, in file order; samples of a file without ids get `line 1`, `line 2`, ….

    The first line is a heading if its first column has a name of ids (id, query_id, sample …) and its second is a word.
    A file of values separated by commas has a heading, and so has one of several systems, of which `column` is read.
    Raises UserError, with the line, for a value that is not a finite number in decimal digits, a duplicate id, lines
    of different kinds, and a blank line in a file without ids, which would shift the lines below.
    """
    scores: dict[str, float] = {}
    columns = 0
    for number, fields in _rows(path, column):
        where = f"{path}:{number}"
        columns = columns or len(fields)
        if len(fields) != columns or columns > 2:
            raise UserError(f"{where}: {len(fields)} columns; expected {EXPECTED if columns < 3 else SEVERAL}")
        if columns == 2 and not scores and number == 1 and _is_heading(*fields):
            continue
        if columns == 1 and number != len(scores) + 1:
            problem = "a blank line; values without ids are paired by their lines: remove it, or give id, tab and value"
            raise UserError(f"{path}:{len(scores) + 1}: {problem}")
        name = "_".join(fields[0].split()) if columns == 2 else f"{LINE}{number}"
        value = finite(fields[-1])
        if value is None:
            raise UserError(f"{where}: value {shown(fields[-1])} {_why_no_value(*fields)}")
        if not name:
            raise UserError(f"{where}: the sample has no id")
        if name in scores:
            raise UserError(f"{where}: duplicate id {name}")
        if columns == 2 and (reason := why_no_id(name)):
            raise UserError(f"{where}: the id {shown(name)} {reason}")
        scores[name] = value
    if not scores:
        raise UserError(f"{path}: no values")
    return scores


def check_column(path: Path, column: str) -> None:
    """Raise UserError, with the line, if a file of scores lacks the column; only its beginning is read."""
    next(_rows(path, column), None)


def _rows(path: Path, column: str | None) -> Iterator[tuple[int, list[str]]]:
    """The lines with their number: a value, or an id and a value."""
    read = lines(path)
    first = next(read, None)
    if first is None:
        return iter(())
    every = chain([first], read)
    if column is not None or is_csv(first[1]):
        return chosen_column(every, path, column)
    return ((number, [field.strip() for field in line.split("\t")]) for number, line in every)


def _is_heading(name: str, value: str) -> bool:
    """Whether two fields are names of columns. A line that may be a sample with an invalid value is not a heading."""
    return (
        is_id_heading(name)
        and value[:1].isalpha()
        and finite(value.lower().translate(_MISREAD)) is None
        and value.lower() not in NO_HEADINGS
    )


def _why_no_value(*fields: str) -> str:
    try:
        if not math.isfinite(float(fields[-1])):
            return "is not finite"
    except ValueError:
        pass
    problem = "is not a number; expected decimal digits with a point, such as 0.25"
    with_heading = len(fields) == 2 or "," in fields[0]
    return f"{problem} (a heading calls its first column id)" if with_heading else problem


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
