"""The mapping of a paper's names to names of the experiment: the task, system and measure of a printed cell.

A mapping is a YAML file that accompanies the file of published cells. Its parts:
- `models`: printed name -> names of our weights
- `tasks`: printed variant -> task
- `measures`: printed name -> our names with and without a cut-off, and the order of ties used for them
- `seconds`: printed table or measure -> the time that it shows, with its unit if that is not a second
- `features`: printed variant -> feature; such a cell is the importance of the feature to a ranker
- `counts`: printed name -> columns of the table of datasets; such a cell is the size of a dataset
- `datasets`: lines of patterns; the first that fits such a cell gives datasets or dataset/split, or why there are none
- `systems`: lines of patterns; the first that fits any other cell gives entries of `systems:`, or why there are none
- `remarks`: lines of patterns; each that fits adds its remark to the cell
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.strict_yaml import read_yaml

CELL = ("table", "variant", "system", "training", "measure", "cutoff")  # what identifies a printed cell
SECONDS = ("inference", "fine-tuning")
ASCENDING = "ascending"
_PARTS = {
    "models": dict, "tasks": dict, "measures": dict, "counts": dict, "seconds": dict, "features": dict,
    "datasets": list, "systems": list, "remarks": list,
}  # fmt: skip
_LINES = {"datasets": ("ours", "why"), "systems": ("ours", "why"), "remarks": ("said",)}  # and their answer keys


@dataclass(frozen=True)
class Line:
    """A line of patterns; for the cells that fit, it gives our entries, the reason why there are none, or a remark."""

    number: int
    patterns: dict[str, list[str]]
    ours: tuple[str, ...] = ()
    text: str = ""

    def fits(self, cell: dict[str, str]) -> bool:
        """Whether one pattern of each key fits the cell (`*` matches anything)."""
        return all(
            any(fnmatchcase(cell[key], pattern) for pattern in patterns) for key, patterns in self.patterns.items()
        )


class Time(NamedTuple):
    """The time that a printed number shows, one of SECONDS, and its unit in seconds."""

    shown: str
    unit: float


@dataclass(frozen=True)
class Mapping:
    """The content of a mapping file."""

    path: Path
    models: dict[str, list[str]]
    tasks: dict[str, str]
    measures: dict[str, dict[str, str]]
    counts: dict[str, list[str]]
    seconds: dict[str, Time]
    features: dict[str, str]
    datasets: list[Line]
    systems: list[Line]
    remarks: list[Line]

    def time(self, cell: dict[str, str]) -> Time | None:
        """Return the time that a cell shows; None if it is another number."""
        return self.seconds.get(cell["measure"]) or self.seconds.get(cell["table"])

    def is_ascending(self, measure: str) -> bool:
        """Whether cells of this measure (our name) order documents with equal scores by ascending id."""
        family = measure.partition("@")[0]
        ascending = [names for names in self.measures.values() if names.get("ties") == ASCENDING]
        return any(measure == names.get("all") or family == names.get("at") for names in ascending)


def read_mapping(path: Path) -> Mapping:
    """Read a mapping. Raises UserError, naming the key or line, if it is invalid."""
    content = read_yaml(path)
    for key, value in content.items():
        if key not in _PARTS:
            raise UserError(f"{path}: unknown key {key!r}; allowed are {', '.join(_PARTS)}")
        if not isinstance(value, _PARTS[key]):
            raise UserError(f"{path}: {key}: expected a {'list' if _PARTS[key] is list else 'mapping'}")
    parts = {key: content.get(key, kind()) for key, kind in _PARTS.items()}
    for name, ours in parts["measures"].items():
        if not isinstance(ours, dict) or not set(ours) & {"at", "all"} or not set(ours) <= {"at", "all", "ties"}:
            raise UserError(f"{path}: measures.{name}: expected {{at: OURS, all: OURS}} (at a cut-off, and without)")
        if ours.get("ties", ASCENDING) != ASCENDING:
            raise UserError(f"{path}: measures.{name}.ties: expected {ASCENDING}; without it ties are trec_eval's")
    parts["seconds"] = {str(name): _time(path, name, value) for name, value in parts["seconds"].items()}
    parts["features"] = {str(name): str(feature) for name, feature in parts["features"].items()}
    for section in ("models", "counts"):
        parts[section] = {name: _list(ours) for name, ours in parts[section].items()}
    for section, answers in _LINES.items():
        parts[section] = [_line(path, section, number, line, answers) for number, line in enumerate(parts[section], 1)]
    return Mapping(path, **parts)


def _time(path: Path, name: object, value: object) -> Time:
    shown, unit = (value.get("shown"), value.get("unit")) if isinstance(value, dict) else (value, 1.0)
    if isinstance(value, dict) and set(value) != {"shown", "unit"}:
        raise UserError(f"{path}: seconds.{name}: expected a time, or {{shown: TIME, unit: SECONDS}}")
    if shown not in SECONDS:
        raise UserError(f"{path}: seconds.{name}: {shown!r} is not one of {', '.join(SECONDS)}")
    if isinstance(unit, bool) or not isinstance(unit, int | float) or not 0 < unit < math.inf:
        raise UserError(f"{path}: seconds.{name}: unit: {unit!r} is not a number of seconds above 0")
    return Time(shown, float(unit))


def _list(value: object) -> list[str]:
    return [str(entry) for entry in (value if isinstance(value, list) else [value])]


def _line(path: Path, section: str, number: int, line: object, answers: tuple[str, ...]) -> Line:
    where = f"{path}: {section}, line {number}"
    if not isinstance(line, dict):
        raise UserError(f"{where}: expected a mapping (key: value)")
    given_answers = [key for key in answers if key in line]
    if len(given_answers) != 1:
        raise UserError(f"{where}: expected exactly one of {' and '.join(answers)}")
    if unknown := [key for key in line if key not in (*CELL, *answers)]:
        raise UserError(f"{where}: unknown key {unknown[0]!r}; allowed are {', '.join((*CELL, *answers))}")
    patterns = {key: _list(line[key]) for key in CELL if key in line}
    if given_answers == ["ours"]:
        return Line(number, patterns, ours=tuple(_list(line["ours"])))
    return Line(number, patterns, text=str(line[given_answers[0]]))
