"""Check, before anything runs, that a file of published numbers refers to results that the experiment has.

A file of numbers (without a mapping) has one row per number; docs/archive.md describes its columns.
"""

from __future__ import annotations

import csv
from pathlib import Path

from ranktrial.common.files import lines
from ranktrial.common.near_names import hint
from ranktrial.experiment.checker import Checker
from ranktrial.experiment.records import System, Task


def check_places(check: Checker, systems: dict[str, System], tasks: dict[str, Task]) -> None:
    """Raise UserError for a row with a comparison, system, task or dataset that the experiment lacks."""
    published = check.config.published
    if published is None or published.mapping:
        return
    path = Path(published.file)
    numbered = [(number, line) for number, line in lines(path) if not line.startswith("#")]
    rows = csv.DictReader((line for _, line in numbered), delimiter="\t", quoting=csv.QUOTE_NONE)
    if not {"comparison", "task", "system"} <= set(rows.fieldnames or []):
        return  # the job that reads the file reports the missing column
    folders = {task.folder: task.name for task in tasks.values()}
    for (number, _), row in zip(numbered[1:], rows, strict=False):
        comparison, task, system = (row.get(name) or "" for name in ("comparison", "task", "system"))
        unknown, meant = None, ""
        if comparison and comparison not in check.config.comparisons:
            unknown = f"comparison {comparison!r}"
            meant = hint(comparison, check.config.comparisons)
        elif system and system not in systems:
            unknown = f"system {system!r}"
            meant = hint(system, systems)
        elif (comparison or system) and task and task not in folders:
            unknown = f"task {task!r}"
            meant = hint(task, folders)
        elif system and not systems[system].ranks(folders[task]):
            unknown = f"run of {system!r} on {task!r}"
        elif not comparison and not system and task.partition("/")[0] not in check.config.datasets:
            unknown = f"dataset {task.partition('/')[0]!r}"
        if unknown:
            raise check.fail("published.file", f"{path}:{number}: there is no {unknown} in this experiment{meant}")
