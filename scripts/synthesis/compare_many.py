"""Compare many systems at once: all pairs, or all systems with one control, on each task and over the tasks.

Reads the metrics files of all systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes a TSV with one row per task and
difference (simultaneous interval, adjusted p, letters), and a JSON file with the tests' settings and warnings
(ranktrial/synthesis/families.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.settings import write_record
from ranktrial.common.tables import write_table
from ranktrial.synthesis.families import Settings, compared_at_once
from ranktrial.synthesis.metrics_files import by_task_and_system, read_scores


def compare_many(metrics: list[Path], table: Path, record: Path, settings: Settings) -> None:
    """Compare many systems at once: all pairs, or all systems with one control, on each task and over the tasks."""
    scores = {
        task: {name: read_scores(files[name], settings.measure).values for name in settings.systems}
        for task, files in by_task_and_system(metrics).items()
    }
    differences, kept = compared_at_once(scores, settings)
    for warning in kept.warnings:
        print(f"{table.stem}: {warning}", file=sys.stderr)
    write_table(table, differences)
    write_record(record, kept)


if __name__ == "__main__":
    job(compare_many)
