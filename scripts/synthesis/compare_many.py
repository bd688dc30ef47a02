"""Compare many systems at once: all pairs, or all systems with one control, on each task and over the tasks.

Reads the metrics files of all systems (metrics/{task}/{system}/seed-{seed}.tsv). Writes a TSV with one row per task and
difference (simultaneous interval, adjusted p, letters), and a JSON file with the tests' settings and warnings.
Values are paired by query id; several seeds of a system are averaged query by query first, so that all that is said
holds for these checkpoints: other seeds would add to the uncertainty.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.settings import write_record
from ranktrial.common.tables import write_table
from ranktrial.ir.scores import are_counted, check_scales
from ranktrial.statistics.measure_scale import reach_of
from ranktrial.statistics.multiple import scopes
from ranktrial.synthesis.families import Settings, record_of, rows
from ranktrial.synthesis.metrics_files import by_task_and_system, on_common_queries, read_scores


def with_shared_queries(tables: dict[str, pd.DataFrame]) -> list[str]:
    """The tasks that have the same query ids, as text: over tasks they are taken to be independent."""
    alike: dict[frozenset[str], list[str]] = {}
    for task, table in tables.items():
        alike.setdefault(frozenset(table.index), []).append(task)
    groups = [tasks for ids, tasks in alike.items() if len(tasks) > 1 and not are_counted(ids)]
    why = (
        "over tasks these count as different queries; if they are the same, too many differences are significant there"
    )
    return [f"{', '.join(tasks)} have the same query ids: {why}" for tasks in groups]


def compare_many(metrics: list[Path], table: Path, record: Path, settings: Settings) -> None:
    """Compare many systems at once: all pairs, or all systems with one control, on each task and over the tasks."""
    tables, warnings, seeds = {}, [], dict.fromkeys(settings.systems, 0)
    for task, files in by_task_and_system(metrics).items():
        scores = {name: read_scores(files[name], settings.measure).values for name in settings.systems}
        seeds = {name: max(seeds[name], scores[name].shape[1]) for name in settings.systems}
        check_scales({name: one.to_numpy().ravel().tolist() for name, one in scores.items()}, task, settings.measure)
        tables[task], said = on_common_queries({name: one.mean(axis=1) for name, one in scores.items()}, task)
        warnings += [said] if said else []
    warnings += with_shared_queries(tables)
    found = scopes({task: table.to_numpy() for task, table in tables.items()}, settings)
    kept = record_of(found, settings, seeds, warnings)
    for warning in kept.warnings:
        print(f"{table.stem}: {warning}", file=sys.stderr)
    reach = reach_of(settings.measure, (table.to_numpy() for table in tables.values()))
    write_table(table, rows(found, settings, reach))
    write_record(record, kept)


if __name__ == "__main__":
    job(compare_many)
