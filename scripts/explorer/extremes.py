"""The queries with the largest wins and losses of each comparison, over all its tasks, for the report.

Reads metrics files and queries. Writes tables/extreme-queries.tsv: one row per comparison and query, with its text
unless texts are not shown; per comparison first those that the treatment wins, the largest difference first. The counts
of datasets are inputs, since they change with the texts, which are not inputs of the job (rules/explorer.smk).
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.tables import write_table
from ranktrial.explorer.extremes import rows_of_all
from scripts.explorer.task_files import Settings, by_source, check_there, task_data


def extreme_queries(metrics: list[Path], statistics: list[Path], table: Path, settings: Settings) -> None:
    """Write the queries with the largest wins and losses of each comparison."""
    check_there(settings, [task.queries for task in settings.tasks.values()])
    values = by_source("metrics", metrics)
    tasks = {name: task_data(settings, name, values, {}, {}) for name in settings.tasks}
    write_table(table, rows_of_all(settings, tasks))


if __name__ == "__main__":
    job(extreme_queries)
