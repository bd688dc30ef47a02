"""Table of means, one row per task and system: the mean of each measure over queries and its sd over seeds.

Reads the metrics files (metrics/{task}/{system}/seed-{seed}.tsv). Writes a TSV: task, system, queries, seeds, then for
each measure its mean over seeds and its further columns (ranktrial/ir/means.py), such as `MEASURE sd`.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import read_metrics, write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.means import means_table


def write_means(metrics: list[Path], table: Path) -> None:
    """Write the table of means, one row per task and system."""
    write_table(table, means(metrics))


def means(paths: list[Path]) -> pd.DataFrame:
    """Means over queries, averaged over seeds, in the order of first occurrence of tasks and systems."""
    groups: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in paths:
        fields = fields_of("scored", path)
        groups.setdefault((fields["task"], fields["system"]), []).append(read_metrics(path))
    return means_table([(task, system, tables) for (task, system), tables in groups.items()])


if __name__ == "__main__":
    job(write_means)
