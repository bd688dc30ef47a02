"""The jobs of the explorer, and the data of a task that they read from files: metrics, runs, queries, corpora.

`explorer` writes explorer/ with index.html and data/ (ranktrial/explorer/folder.py). `extreme_queries` writes
tables/extreme-queries.tsv, the queries with the largest wins and losses of each comparison, for the report: one row per
comparison and query, with its text unless texts are not shown; per comparison first those that the treatment wins, the
largest difference first. The counts of datasets are its inputs, since they change with the texts, which are not inputs
of the jobs (rules/explorer.smk).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.common.tables import read_metrics, write_table
from ranktrial.experiment.results_paths import fields_of, path
from ranktrial.explorer.extremes import rows_of_all
from ranktrial.explorer.folder import write_explorer
from ranktrial.explorer.task_data import Data, Explored
from ranktrial.ir.collection import Document, read_corpus, read_queries
from ranktrial.ir.trec import Qrels, Run, read_qrels, read_run

Files = dict[tuple[str, str], dict[str, Path]]  # task's folder and system -> seed -> file


@dataclass(frozen=True)
class Source:
    """The location of a system's results on a task, which may be those of another task."""

    system: str
    metrics: Annotated[str, "the folder of the task whose metrics they are"]
    runs: Annotated[str, "that of its runs; empty if values are given"]


@dataclass(frozen=True)
class Task:
    label: str
    corpora: Annotated[list[str], "files of documents; may be empty"]
    queries: Annotated[str, "the file of queries; empty if there is none"]
    qrels: Annotated[str, "the file of judgements; empty if values are given"]
    sources: Annotated[dict[str, Source], "by the system's name"]


@dataclass(frozen=True, kw_only=True)
class Settings(Explored):
    texts: Annotated[bool, "whether the page shows texts, or ids alone"]
    tasks: Annotated[dict[str, Task], "by their folders"]


def explorer(metrics: list[Path], runs: list[Path], folder: Path, settings: Settings) -> None:
    """Write a folder with a page that shows single queries and their rankings."""
    check_there(settings, [path for task in settings.tasks.values() for path in (*task.corpora, task.queries)])
    with atomic_folder(folder) as made:
        write(made, metrics, runs, settings)


def extreme_queries(metrics: list[Path], statistics: list[Path], table: Path, settings: Settings) -> None:
    """Write the queries with the largest wins and losses of each comparison."""
    check_there(settings, [task.queries for task in settings.tasks.values()])
    values = by_source("metrics", metrics)
    tasks = {name: task_data(settings, name, values, {}, {}) for name in settings.tasks}
    write_table(table, rows_of_all(settings, tasks))


def write(folder: Path, metrics: list[Path], runs: list[Path], settings: Settings) -> None:
    """Write the whole folder."""
    values, rankings = by_source("metrics", metrics), by_source("run", runs)
    judgements = {name: read_qrels(Path(task.qrels)) if task.qrels else {} for name, task in settings.tasks.items()}
    tasks = [task_data(settings, name, values, rankings, qrels) for name, qrels in judgements.items()]
    write_explorer(folder, tasks, settings)


def compared_systems(settings: Settings, task: str) -> list[str]:
    """The systems that comparisons name on a task, in the order of its sources."""
    named = {system for one in settings.over(task).values() for system in (one.control, one.treatment)}
    return [system for system in settings.tasks[task].sources if system in named]


def check_there(settings: Settings, files: Iterable[str]) -> None:
    """Raise UserError for a missing file of texts, with the command that makes it again."""
    command = f"snakemake --configfile {path('configuration', experiment=settings.experiment)} --"
    for name in dict.fromkeys(filter(None, files)) if settings.texts else ():
        if not Path(name).exists():
            raise UserError(
                f"{name}: this file of texts is missing; run `{command} {name}` to make it again, or set explorer: "
                "{texts: false} to show only ids"
            )


def by_source(name: str, paths: Sequence[Path]) -> Files:
    """The files of each system on each task; `name` is that in the table of paths."""
    found: Files = {}
    for file in paths:
        fields = fields_of(name, file)
        found.setdefault((fields["task"], fields["system"]), {})[fields["seed"]] = file
    return found


def mean_values(paths: Sequence[Path], measures: Sequence[str]) -> pd.DataFrame:
    """The mean over the seeds of a system: one row per query, one column per measure."""
    tables = [read_metrics(file) for file in paths]
    known = [measure for measure in measures if measure in tables[0]]
    return pd.DataFrame({measure: sum(table[measure] for table in tables) / len(tables) for measure in known})


def task_data(settings: Settings, name: str, metrics: Files, runs: Files, qrels: Qrels) -> Data:
    """The data of a task: its values and the texts of its queries are read."""
    task = settings.tasks[name]
    measures = list(dict.fromkeys(one.measure for one in settings.over(name).values()))
    values = {
        system: mean_values(list(metrics[source.metrics, source.system].values()), measures)
        for system, source in task.sources.items()
    }
    known = list(qrels) or list(dict.fromkeys(query for table in values.values() for query in table.index))
    return Data(
        name=name,
        label=task.label,
        folder=name,
        queries=known,
        qrels=qrels,
        values={system: table.reindex(known) for system, table in values.items()},
        runs={system: found for system, source in task.sources.items() if (found := _readers(runs, source))},
        compared=compared_systems(settings, name),
        texts=read_queries(Path(task.queries)) if task.queries and settings.texts else {},
        documents=_documents(task) if task.corpora and settings.texts else None,
    )


def _readers(runs: Files, source: Source) -> dict[str, Callable[[], Run]]:
    found = runs.get((source.runs, source.system), {}) if source.runs else {}
    return {seed: partial(_run, file) for seed, file in found.items()}


@lru_cache(maxsize=8)  # comparisons often share a control
def _run(file: Path) -> Run:
    return read_run(file)


def _documents(task: Task) -> Iterator[Document]:
    return (document for corpus in task.corpora for document in read_corpus(Path(corpus)))


if __name__ == "__main__":
    job(explorer, extreme_queries)
