"""MTEB's results of one model as a table of tasks: a folder of JSON files, {task_name, scores: {split: […]}}.

The value of a task is its `main_score` on the test split, or on the only one; of several subsets (languages), the mean,
as MTEB's own tables have it. Reads these files, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import read_json

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
