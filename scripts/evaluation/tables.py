"""Tables of all values of an experiment: their means, and every value of every query, for other programs.

Both read the metrics files (metrics/{task}/{system}/seed-{seed}.tsv). `write_means` writes a TSV, one row per task and
system: task, system, queries, seeds, then for each measure its mean over queries and seeds and its further columns
(ranktrial/ir/means.py), such as `MEASURE sd`. `all_queries` writes a long table (task, system, seed, query, measure,
value), packed, with values to the last bit; one file is in memory at a time.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_text
from ranktrial.common.tables import read_metrics, write_table
from ranktrial.experiment.results_paths import fields_of
from ranktrial.ir.means import means_table

COLUMNS = ("task", "system", "seed", "query", "measure", "value")  # of the long table


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


def all_queries(metrics: list[Path], table: Path) -> None:
    """Write the long table, in the order of the files and of their queries."""
    with atomic_text(table) as file:
        file.write("\t".join(COLUMNS) + "\n")
        for path in metrics:
            fields = fields_of("scored", path)
            where = [fields["task"], fields["system"], str(fields["seed"])]
            values = read_metrics(path)
            long = values.rename_axis(columns="measure").stack().rename("value").reset_index()
            for place, (name, cell) in enumerate(zip(COLUMNS[:3], where, strict=True)):
                long.insert(place, name, cell)
            file.write(long.to_csv(sep="\t", index=False, header=False))


if __name__ == "__main__":
    job(write_means, all_queries)
