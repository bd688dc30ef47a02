"""Runs that score 0 by every measure on every query, mostly because none of their documents is judged.

Reads only the table of means. In such a case, run and judgements name documents differently, which nothing else would
show: a document without a judgement counts as not relevant.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

NOT_SCORES = ("NumQ", "NumRel", "NumRet")  # measures that count documents, whether judged or not
FACTS = ("task", "system", "queries", "seeds")  # columns of the table of means that are not measures


class ZeroRun(NamedTuple):
    """A system on a task, by their names in paths."""

    task: str
    system: str

    def caution(self, task: str, system: str) -> str:
        """The warning, with the labels of both."""
        return (
            f"{system} scores 0 by every measure on every query of {task}: most likely none of its documents is "
            "judged, so compare the document ids of run and judgements"
        )


def zero_runs(means: Iterable[Mapping[str, Any]]) -> list[ZeroRun]:
    """The rows of the table of means, as text or numbers, in which every measure is 0."""
    found = []
    for row in means:
        of_measures = [name for name in row if name not in FACTS and not name.endswith(" sd")]
        scores = [str(row[name]) for name in of_measures if not name.startswith(NOT_SCORES)]
        known = [float(score) for score in scores if score not in ("", "nan", "None")]
        if known and not any(known):
            found.append(ZeroRun(str(row["task"]), str(row["system"])))
    return found


def known_zero_runs(table: Path) -> list[str]:
    """The warnings about such runs when an experiment is run again, from the means of the previous run."""
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [one.caution(one.task, one.system) for one in zero_runs(rows)]
