"""The queries with the largest wins and losses of each comparison, over all its tasks, for the report.

Reads metrics files and queries. Writes tables/extreme-queries.tsv: one row per comparison and query, with its text
unless texts are not shown; per comparison first those that the treatment wins, the largest difference first. The counts
of datasets are inputs, since they change with the texts, which are not inputs of the job (rules/explorer.smk).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.keys import JsonObject
from ranktrial.common.tables import write_table
from ranktrial.explorer.rankings import check_there
from ranktrial.explorer.task_data import Comparison, Data, Settings, by_source, task_data
from ranktrial.ir.collection import read_queries
from ranktrial.statistics.superiority import without_rounding

SHOWN = 10  # of each side
LISTED = 300  # characters of a query
Texts = dict[str, dict[str, str]]  # task -> query -> text
COLUMNS = ("comparison", "task", "query_id", "text", "control", "treatment", "difference")


def rows(name: str, one: Comparison, tasks: dict[str, Data], texts: dict[str, dict[str, str]]) -> Iterator[JsonObject]:
    """All queries of a comparison."""
    for task in one.tasks:
        control, treatment = (tasks[task].values[side][one.measure] for side in (one.control, one.treatment))
        for query in tasks[task].queries:
            text = " ".join(texts[task].get(query, "").split())[:LISTED]
            values = {"control": control[query], "treatment": treatment[query]}
            yield {"comparison": name, "task": task, "query_id": query, "text": text, **values}


def extremes(found: pd.DataFrame, lower_is_better: bool) -> pd.DataFrame:
    """The queries with the largest wins and losses; of equal ones, those of each task in turn."""
    difference = without_rounding(found["treatment"].to_numpy(float), found["control"].to_numpy(float))
    found = found.assign(difference=difference).dropna()
    gain = (-found["difference"] if lower_is_better else found["difference"]).round(12)
    turn = found.groupby([found["task"], gain], sort=False).cumcount()
    ordered = found.assign(gain=gain, turn=turn).sort_values(["gain", "turn"], ascending=[False, True], kind="stable")
    won = ordered.index[ordered["gain"] > 0][:SHOWN]
    turned = ordered.sort_values(["gain", "turn"], kind="stable")
    lost = turned.index[turned["gain"] < 0][:SHOWN]
    return found.loc[[*won, *lost]]


def rows_of_all(settings: Settings, tasks: dict[str, Data], texts: Texts) -> pd.DataFrame:
    """The rows of all comparisons."""
    parts = []
    for name in settings.order:
        one = settings.comparisons[name]
        found = pd.DataFrame(rows(name, one, tasks, texts), columns=COLUMNS[:-1])
        parts.append(extremes(found, one.lower_is_better))
    return pd.concat(parts) if parts else pd.DataFrame(columns=COLUMNS)


def extreme_queries(metrics: list[Path], statistics: list[Path], table: Path, settings: Settings) -> None:
    """Write the queries with the largest wins and losses of each comparison."""
    files = {name: task.queries for name, task in settings.tasks.items() if task.queries and settings.texts}
    check_there(files.values(), settings.experiment)
    values = by_source("metrics", metrics)
    tasks = {name: task_data(settings, name, values, {}, {}) for name in settings.tasks}
    texts = {name: read_queries(Path(files[name])) if name in files else {} for name in settings.tasks}
    write_table(table, rows_of_all(settings, tasks, texts))


if __name__ == "__main__":
    job(extreme_queries)
