"""The differences per query of a comparison, with wins, ties and losses.

Reads the metrics files of control and treatment, and what queries are clustered by. Writes
tables/query-differences/{comparison}.tsv, treatment minus control per query, paired by query id as in compare.py
(several seeds of a system are averaged query by query), and tables/queries/{comparison}.tsv: one row per task with
wins, ties and losses of the treatment and its probability of superiority with its interval, by the comparison's
clusters. Both are at full precision.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import write_table
from ranktrial.experiment.synthesis_records import ComparisonSettings as Settings
from ranktrial.ir.trec import read_qrels
from ranktrial.statistics.comparison import units_of
from ranktrial.statistics.superiority import superiority, without_rounding
from ranktrial.synthesis.comparing import task_scores
from ranktrial.synthesis.one_comparison import Pairs
from scripts.synthesis.compare import dependence_data, read_pairs


def query_differences(pairs: Pairs) -> dict[str, pd.Series]:
    """The differences of each task's queries, by query id, in the order of the control's tasks and queries."""
    differences = {}
    for task, (control, treatment) in pairs.items():
        of_x, of_y = (scores.values.mean(axis=1) for scores in (treatment, control))
        differences[task] = pd.Series(without_rounding(of_x.to_numpy(), of_y.to_numpy()), of_x.index)
    return differences


def queries(control: list[Path], treatment: list[Path], table: Path, differences: Path, settings: Settings) -> None:
    """The differences per query of a comparison, with wins, ties and losses."""
    pairs, _ = read_pairs(control, treatment, settings)
    known = dependence_data(settings, {task: read_qrels(Path(file)) for task, file in settings.qrels.items()}, [])
    units = units_of(task_scores(pairs, settings, known), settings)
    sign = -1 if settings.lower_is_better else 1
    by_task = query_differences(pairs)
    counts = [
        {"task": task, "n": len(values)} | superiority(sign * values.to_numpy(), settings.alpha, units[task])._asdict()
        for task, values in by_task.items()
    ]
    long = pd.concat(by_task, names=["task", "query_id"]).rename("difference")
    write_table(differences, long.reset_index())
    write_table(table, pd.DataFrame(counts))


if __name__ == "__main__":
    job(queries)
