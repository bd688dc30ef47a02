"""A task of the explorer: its values, and its runs, which are read one by one; reads metrics and runs.

`Files` maps a source to its files; a run is in memory only while it is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from ranktrial.experiment.results_paths import fields_of
from ranktrial.explorer.budget import RankingLimits, Size
from ranktrial.explorer.rankings import Rankings
from ranktrial.explorer.settings import Comparison, Settings, Source, Task, compared_systems
from ranktrial.explorer.values import mean_values, relevant_documents, unjudged
from ranktrial.ir.trec import Qrels, Run, read_run
from ranktrial.statistics.task.superiority import without_rounding

Files = dict[tuple[str, str], dict[str, Path]]  # task's folder and system -> seed -> file


def by_source(name: str, paths: Sequence[Path]) -> Files:
    """The files of each system on each task; `name` is that in the table of paths."""
    found: Files = {}
    for path in paths:
        fields = fields_of(name, path)
        found.setdefault((fields["task"], fields["system"]), {})[fields["seed"]] = path
    return found


@dataclass(frozen=True)
class Data:
    """The data of a task before its runs are read; `values` are those of each system by query and measure."""

    name: str
    task: Task
    queries: list[str]
    qrels: Qrels
    values: dict[str, pd.DataFrame]
    runs: dict[str, dict[str, Path]]
    compared: list[str]

    @property
    def size(self) -> Size:
        """The size of the task."""
        seeds = {system: len(files) for system, files in self.runs.items()}
        return Size(len(self.queries), sum(seeds.values()), sum(seeds.get(system, 0) for system in self.compared))


def measures_of(settings: Settings, task: str) -> list[str]:
    """The measures of the comparisons over a task."""
    return list(dict.fromkeys(one.measure for one in settings.comparisons.values() if task in one.tasks))


def task_data(settings: Settings, name: str, metrics: Files, runs: Files, qrels: Qrels) -> Data:
    """Read the values of a task."""
    task, measures = settings.tasks[name], measures_of(settings, name)
    values = {
        system: mean_values(list(metrics[source.metrics, source.system].values()), measures)
        for system, source in task.sources.items()
    }
    known = list(qrels) or list(dict.fromkeys(query for table in values.values() for query in table.index))
    values = {system: table.reindex(known) for system, table in values.items()}
    of_runs = {system: found for system, source in task.sources.items() if (found := _runs(runs, source))}
    return Data(name, task, known, qrels, values, of_runs, compared_systems(settings, name))


def _runs(runs: Files, source: Source) -> dict[str, Path]:
    return runs.get((source.runs, source.system), {}) if source.runs else {}


def differences(data: Data, comparison: Comparison) -> np.ndarray:
    """Treatment minus control on each query; NaN if one of them has no value."""
    of_treatment, of_control = (data.values[system] for system in (comparison.treatment, comparison.control))
    treatment, control = (values[comparison.measure].to_numpy() for values in (of_treatment, of_control))
    return without_rounding(treatment, control)


def shown_queries(data: Data, comparisons: Sequence[Comparison], limits: RankingLimits) -> list[str]:
    """The queries that have rankings: all, or those on which compared systems differ most, in the task's order."""
    if limits.queries >= len(data.queries):
        return data.queries
    largest = np.nanmax(np.abs([differences(data, one) for one in comparisons]), axis=0)
    first = np.sort(np.argsort(-np.nan_to_num(largest), kind="stable")[: limits.queries])
    return [data.queries[place] for place in first]


def read_rankings(data: Data, queries: list[str], limits: RankingLimits) -> tuple[Rankings, dict[str, list[float]]]:
    """Read all runs: their shown parts, and the numbers of unjudged documents near the top, by system and query."""
    rankings = Rankings(queries, {query: relevant_documents(data.qrels, query) for query in queries}, limits.depth)
    for query in queries:
        for document in rankings.relevant[query]:
            rankings.number(document)
    counts = {}
    for system, files in data.runs.items():
        numbers = []
        for seed, path in files.items():
            run = read_run(path)
            numbers.append(unjudged(run, data.qrels, data.queries))
            if limits.all_systems or system in data.compared:
                rankings.add(system, seed, run, queries)
        counts[system] = np.mean(numbers, axis=0).round(2).tolist()
    return rankings, counts


@lru_cache(maxsize=8)  # comparisons often share a control
def run_of(path: Path) -> Run:
    """A run, cached for several comparisons."""
    return read_run(path)
