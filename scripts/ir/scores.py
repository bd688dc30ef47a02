"""Values a sample that other tools wrote: text with one value a line, or two columns with a tab, id and value."""

from __future__ import annotations

import math
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.numerals import finite
from scripts.ir.trec import shown, why_no_id

LINE = "line "  # how the ids begin that samples without one get; no id that a file gives holds a space
HEADINGS = {"id", "index", "idx", "key", "name", "pair", "qid", "query", "sample", "example", "item", "uid", "guid"}
NO_HEADINGS = {"na", "nan", "n/a", "nil", "null", "none", "inf", "infinity", "true", "false", "yes", "no", "missing"}
_MISREAD = str.maketrans("oil", "011")  # O.5 is a bad value, no heading


def read_scores(path: Path) -> dict[str, float]:
    """Sample id -> value, in the file's order; a file without ids gets `line 1`, `line 2`, ….

    Raises UserError, with the line, for a value that is no finite number in decimal digits, an id that stands twice,
    lines of different kinds, and a blank line where there are no ids, since it would shift those below. A first line is
    a heading where its first column has a name of ids (id, query_id, sample …) and its second a word.
    """
    scores: dict[str, float] = {}
    columns = 0
    for number, line in lines(path):
        fields = [field.strip() for field in line.split("\t")]
        where = f"{path}:{number}"
        columns = columns or len(fields)
        if len(fields) != columns or columns > 2:
            raise UserError(f"{where}: {len(fields)} columns; wanted are one value a line, or id, tab and value")
        if columns == 2 and not scores and number == 1 and _is_heading(*fields):
            continue
        if columns == 1 and number != len(scores) + 1:
            said = "a blank line; values without ids are paired by their lines: leave it out, or give id, tab and value"
            raise UserError(f"{path}:{len(scores) + 1}: {said}")
        name = "_".join(fields[0].split()) if columns == 2 else f"{LINE}{number}"
        value = finite(fields[-1])
        if value is None:
            raise UserError(f"{where}: value {shown(fields[-1])} {_why_no_value(*fields)}")
        if not name or name in scores:
            raise UserError(f"{where}: {f'id {name} stands twice' if name else 'the sample has no id'}")
        if columns == 2 and (reason := why_no_id(name)):
            raise UserError(f"{where}: the id {shown(name)} {reason}")
        scores[name] = value
    if not scores:
        raise UserError(f"{path}: not one value")
    return scores


def _is_heading(name: str, value: str) -> bool:
    """Whether two fields name columns; what may be a sample with a bad value is none."""
    parts = name.lower().replace("-", "_").replace(" ", "_").strip("_").split("_")
    return (
        (set(parts) <= HEADINGS or parts[-1].removesuffix("id") in HEADINGS | {""})
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
    wanted = "is not a number; wanted are decimal digits with a point, such as 0.25"
    return f"{wanted} (a heading calls its first column id)" if len(fields) == 2 else wanted


def check_pairs(control: list[str], treatment: list[str], task: str) -> None:
    """Raise UserError where two systems' samples, given by their ids, have to be paired by line and cannot be.

    Without ids both must have the same number of values, on the lines from 1 on.
    """
    by_line = [any(name.startswith(LINE) for name in ids) for ids in (control, treatment)]
    if by_line[0] != by_line[1]:
        without, other = ("control", "treatment") if by_line[0] else ("treatment", "control")
        raise UserError(f"task {task}: the scores of the {other} have ids and those of the {without} have none")
    if all(by_line):
        wanted = "give the same samples, or two columns with a tab, id and value"
        if len(control) != len(treatment):
            counts = f"control has {len(control)} scores and treatment {len(treatment)}"
            raise UserError(f"task {task}: {counts}; without ids they cannot be paired: {wanted}")
        for ids, system in ((control, "control"), (treatment, "treatment")):
            if ids != [f"{LINE}{number}" for number in range(1, len(ids) + 1)]:
                raise UserError(f"task {task}: lines of the {system} are missing; they cannot be paired: {wanted}")
