"""The mapping of a paper's words to names here: which task, system and measure a printed cell is about.

A mapping is a YAML file beside the file of published cells. Its parts: `models` (a printed name: names of our
weights), `tasks` (a printed variant: a task), `measures` (a printed name: our names with and without a cut-off),
`seconds` (a printed table: which time), `systems` (lines of patterns; the first that fits a cell says which entries of
`systems:` it is about, or why none is) and `remarks` (lines of patterns; each that fits says something on the cell).
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.strict_yaml import read_yaml

CELL = ("table", "variant", "system", "training", "measure", "cutoff")  # what tells a printed cell from the others
SECONDS = ("inference", "fine-tuning")
_PARTS = {"models": dict, "tasks": dict, "measures": dict, "seconds": dict, "systems": list, "remarks": list}


@dataclass(frozen=True)
class Line:
    """A line of patterns and what holds for the cells that fit: our entries, or why there are none, or a remark."""

    number: int
    patterns: dict[str, list[str]]
    ours: tuple[str, ...] = ()
    said: str = ""

    def fits(self, cell: dict[str, str]) -> bool:
        """Whether each pattern fits (`*` stands for anything)."""
        return all(any(fnmatchcase(cell[key], one) for one in wanted) for key, wanted in self.patterns.items())


@dataclass(frozen=True)
class Mapping:
    """A mapping file, read."""

    path: Path
    models: dict[str, list[str]]
    tasks: dict[str, str]
    measures: dict[str, dict[str, str]]
    seconds: dict[str, str]
    systems: list[Line]
    remarks: list[Line]


def read_mapping(path: Path) -> Mapping:
    """Read a mapping. Raises UserError, with the place, for what cannot be understood."""
    content = read_yaml(path)
    for key, value in content.items():
        if key not in _PARTS:
            raise UserError(f"{path}: unknown key {key!r}; allowed are {', '.join(_PARTS)}")
        if not isinstance(value, _PARTS[key]):
            raise UserError(f"{path}: {key}: a {'list' if _PARTS[key] is list else 'mapping'} is wanted")
    parts = {key: content.get(key, kind()) for key, kind in _PARTS.items()}
    for name, one in parts["measures"].items():
        if not isinstance(one, dict) or not one or not set(one) <= {"at", "all"}:
            raise UserError(f"{path}: measures.{name}: wanted is {{at: OURS, all: OURS}} (at a cut-off, and without)")
    for table, one in parts["seconds"].items():
        if one not in SECONDS:
            raise UserError(f"{path}: seconds.{table}: {one!r} is not one of {', '.join(SECONDS)}")
    parts["models"] = {name: _list(one) for name, one in parts["models"].items()}
    for section, wanted in (("systems", ("ours", "why")), ("remarks", ("said",))):
        parts[section] = [_line(path, section, n, one, wanted) for n, one in enumerate(parts[section], 1)]
    return Mapping(path, **parts)


def _list(value) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value])]


def _line(path: Path, section: str, number: int, line, wanted: tuple[str, ...]) -> Line:
    where = f"{path}: {section}, line {number}"
    if not isinstance(line, dict):
        raise UserError(f"{where}: a mapping (key: value) is wanted")
    given = [key for key in wanted if key in line]
    if len(given) != 1:
        raise UserError(f"{where}: exactly one of {' and '.join(wanted)} is wanted")
    if alien := [key for key in line if key not in (*CELL, *wanted)]:
        raise UserError(f"{where}: unknown key {alien[0]!r}; allowed are {', '.join((*CELL, *wanted))}")
    patterns = {key: _list(line[key]) for key in CELL if key in line}
    if given == ["ours"]:
        return Line(number, patterns, ours=tuple(_list(line["ours"])))
    return Line(number, patterns, said=str(line[given[0]]))
