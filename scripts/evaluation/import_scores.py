"""Import external values per sample of a task as a metrics file.

Reads a file of values: one per line, or a table of one or several systems (scripts/ir/scores.py). Writes
metrics/{task}/{system}/seed-{seed}.tsv (query_id, then the one measure), which is paired with others by the ids or,
without ids, line by line.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.tables import write_table
from scripts.ir.chosen_values import Wanted
from scripts.ir.scores import read_values


@dataclass(frozen=True)
class Settings:
    measure: Annotated[str, "what the values are called"]
    column: Annotated[str | None, "the column of the values or the system, by its name, where there are several"] = None
    task: Annotated[str | None, "the task, where the file has several"] = None


def import_scores(
    source: Path, metrics: Path, measure: str, column: str | None = None, task: str | None = None
) -> list[str]:
    """Check `source` and write `metrics` with the values under the name `measure`; returns what there is to report.

    Raises UserError with the line.
    """
    found = read_values(source, Wanted(column, task, measure))
    table = pd.DataFrame({"query_id": list(found.scores), measure: list(found.scores.values())})
    write_table(metrics, table)
    return found.remarks


def main() -> None:
    arguments = parser(__doc__, "source", "metrics", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    for remark in import_scores(arguments.source, arguments.metrics, settings.measure, settings.column, settings.task):
        print(f"{arguments.source}: warning: {remark}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
