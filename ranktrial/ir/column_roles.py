"""What the columns of a table of scores are, by their names: ids, systems, tasks, seeds, measures, values.

A long table has one value per row and names system, task, query, seed or measure in columns; a wide one has a column of
values per system, or per measure. Reads and writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ranktrial.common.numerals import finite
from ranktrial.ir.measure_names import canonical
from ranktrial.ir.outside_table import PANDAS_INDEX

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
