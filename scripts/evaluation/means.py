"""Table of means, one row per task and system: the mean of each measure over queries and its sd over seeds.

Reads the metrics files (metrics/{task}/{system}/seed-{seed}.tsv). Writes a TSV: task, system, queries, seeds, then for
each measure its mean over seeds and `MEASURE sd`, the sample standard deviation of the seeds' means (empty for one).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.tables import read_metrics, write_table
from ranktrial.experiment.results_paths import fields_of


def write_means(metrics: list[Path], table: Path) -> None:
    """Write the table of means, one row per task and system."""
    write_table(table, means(metrics))


def means(paths: list[Path]) -> pd.DataFrame:
    """Means over queries, averaged over seeds, in the order of first occurrence of tasks and systems."""
    groups: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in paths:
        fields = fields_of("scored", path)
        groups.setdefault((fields["task"], fields["system"]), []).append(read_metrics(path))
    rows = []
    for (task, system), tables in groups.items():
        per_seed = pd.DataFrame([table.mean() for table in tables])
        row = {"task": task, "system": system, "queries": len(tables[0]), "seeds": len(tables)}
        for measure in per_seed:
            row[measure] = per_seed[measure].mean()
            row[f"{measure} sd"] = per_seed[measure].std(ddof=1) if len(tables) > 1 else None
        rows.append(row)
    return pd.DataFrame(rows)


if __name__ == "__main__":
    job(write_means)
