"""The differences per query of a comparison, with wins, ties and losses.

Reads the metrics files of control and treatment. Writes tables/query-differences/{comparison}.tsv, treatment minus
control per query, paired by query id as in compare.py (several seeds of a system are averaged query by query), and
tables/queries/{comparison}.tsv: one row per task with wins, ties and losses of the treatment and its probability of
superiority with its interval. Both are at full precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.tables import write_table
from scripts.statistics.task.superiority import superiority, without_rounding
from scripts.synthesis.metrics_files import by_task, paired, read_scores


@dataclass(frozen=True)
class Settings:
    """The settings of the comparison by query."""

    measure: Annotated[str, "column of the metrics files"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    lower_is_better: Annotated[bool, "of the measure: a query is won by the lower value"] = False
    treatment_on: Annotated[dict[str, str], "task: the task on which the treatment is scored instead"] = field(
        default_factory=dict
    )
    measure_on: Annotated[dict[str, str], "task: its column of the metrics files, where each has its own"] = field(
        default_factory=dict
    )


def query_differences(control: Sequence[Path], treatment: Sequence[Path], settings: Settings) -> dict[str, pd.Series]:
    """The differences of each task's queries, by query id, in the order of the control's tasks and queries."""
    of_control, of_treatment = by_task(list(control)), by_task(list(treatment))
    differences = {}
    for task, files in of_control.items():
        measure = settings.measure_on.get(task, settings.measure)
        others = of_treatment[settings.treatment_on.get(task, task)]
        y, x, _ = paired(read_scores(files, measure), read_scores(others, measure), task)
        of_x, of_y = x.values.mean(axis=1), y.values.mean(axis=1)
        differences[task] = pd.Series(without_rounding(of_x.to_numpy(), of_y.to_numpy()), of_x.index)
    return differences


def main() -> None:
    arguments = parser(__doc__, "control*", "treatment*", "table", "differences", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    sign = -1 if settings.lower_is_better else 1
    differences = query_differences(arguments.control, arguments.treatment, settings)
    counts = [
        {"task": task, "n": len(values), **superiority(sign * values.to_numpy(), settings.alpha)._asdict()}
        for task, values in differences.items()
    ]
    long = pd.concat(differences, names=["task", "query_id"]).rename("difference")
    write_table(arguments.differences, long.reset_index())
    write_table(arguments.table, pd.DataFrame(counts))


if __name__ == "__main__":
    run(main)
