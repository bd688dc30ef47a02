"""Import external values per sample of a task as a metrics file.

Reads a file of values: one per line, or a table of one or several systems (ranktrial/ir/scores.py). Writes
metrics/{task}/{system}/seed-{seed}.tsv (query_id, then the one measure), which is paired with others by the ids or,
without ids, line by line.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.tables import write_table
from ranktrial.ir.chosen_values import Wanted
from ranktrial.ir.scores import read_values


@dataclass(frozen=True)
class Settings:
    measure: Annotated[str, "what the values are called"]
    column: Annotated[str | None, "the column of the values or the system, by its name, where there are several"] = None
    task: Annotated[str | None, "the task, where the file has several"] = None
    seed: Annotated[str | None, "the seed, where the file has several"] = None


def import_scores(sources: list[Path], metrics: Path, settings: Settings) -> list[str]:
    """Check the files, several of which are folds, and write `metrics` with the values under the name of the measure.

       Returns what there is to report.
    Raises UserError with the line.
    """
    wanted = Wanted(settings.column, settings.task, settings.measure, settings.seed)
    scores: dict[str, float] = {}
    remarks = []
    for source in sources:
        found = read_values(source, wanted)
        if len(sources) > 1 and (twice := scores.keys() & found.scores.keys()):
            raise UserError(f"{source}: the sample {min(twice)} is in another fold too; each is in one of the files")
        scores |= found.scores
        remarks += [f"{source}: warning: {remark}" for remark in found.remarks]
    table = pd.DataFrame({"query_id": list(scores), settings.measure: list(scores.values())})
    write_table(metrics, table)
    return remarks


def main() -> None:
    arguments = parser(__doc__, "source*", "metrics", settings=Settings).parse_args()
    for remark in import_scores(arguments.source, arguments.metrics, arguments.settings):
        print(remark, file=sys.stderr)


if __name__ == "__main__":
    run(main)
