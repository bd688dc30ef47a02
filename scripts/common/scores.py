"""Values a sample that other tools wrote: text with one value a line, or two columns with a tab, id and value."""

from __future__ import annotations

import math
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import is_number, lines

LINE = "line "  # how the ids begin that samples without one get; no id that a file gives holds a space


def read_scores(path: Path) -> dict[str, float]:
    """Sample id -> value, in the file's order; a file without ids gets `line 1`, `line 2`, ….

    Raises UserError, with the line, for a value that is no finite number, an id that stands twice, and lines of
    different kinds. A first line whose value is no number is a heading where ids are given.
    """
    scores: dict[str, float] = {}
    columns = 0
    for number, line in lines(path):
        fields = [field.strip() for field in line.split("\t")]
        where = f"{path}:{number}"
        columns = columns or len(fields)
        if len(fields) != columns or columns > 2:
            raise UserError(f"{where}: {len(fields)} columns; wanted are one value a line, or id, tab and value")
        if columns == 2 and not scores and number == 1 and not is_number(fields[1]):
            continue
        name = "_".join(fields[0].split()) if columns == 2 else f"{LINE}{number}"
        if not is_number(fields[-1]):
            raise UserError(f"{where}: value {fields[-1]!r} is not a number")
        value = float(fields[-1])
        if not math.isfinite(value):
            raise UserError(f"{where}: value {fields[-1]!r} is not finite")
        if not name or name in scores:
            raise UserError(f"{where}: {f'id {name} stands twice' if name else 'the sample has no id'}")
        scores[name] = value
    if not scores:
        raise UserError(f"{path}: not one value")
    return scores


def check_pairs(control: list[str], treatment: list[str], task: str) -> None:
    """Raise UserError where two systems' samples, given by their ids, have to be paired by line and cannot be."""
    by_line = [bool(ids) and ids[0].startswith(LINE) for ids in (control, treatment)]
    if by_line[0] != by_line[1]:
        without, other = ("control", "treatment") if by_line[0] else ("treatment", "control")
        raise UserError(f"task {task}: the scores of the {other} have ids and those of the {without} have none")
    if all(by_line) and len(control) != len(treatment):
        counts = f"control has {len(control)} scores and treatment {len(treatment)}"
        wanted = "give the same samples, or two columns with a tab, id and value"
        raise UserError(f"task {task}: {counts}; without ids they cannot be paired: {wanted}")
