"""The explorer: a folder with a page that shows single queries and their rankings, opened from the disk.

Reads metrics, runs, judgements, queries and corpora of all tasks that are compared, and the page's own files. Writes
explorer/ with index.html and data/. budget.py decides what it contains and leaves out.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.files import atomic_folder
from ranktrial.common.home import own_file
from ranktrial.common.keys import JsonObject
from ranktrial.explorer import rankings as budget
from ranktrial.explorer import rankings as packed
from ranktrial.explorer import rankings as texts
from ranktrial.explorer.rankings import Numbering, Rankings
from ranktrial.explorer.task_data import (
    Comparison,
    Data,
    Settings,
    by_source,
    chosen_texts,
    document_records,
    overview,
    query_table,
    read_rankings,
    shown_queries,
    task_data,
    task_summary,
    tops_of,
    write_documents,
    write_rankings,
)
from ranktrial.ir.collection import read_queries
from ranktrial.ir.trec import read_qrels
from scripts.explorer.planning import PAGE, STYLE


def compared_on(settings: Settings, task: str) -> dict[str, Comparison]:
    """The comparisons over a task."""
    return {name: one for name, one in settings.comparisons.items() if task in one.tasks}


def query_texts(data: Data, settings: Settings) -> dict[str, str]:
    """The queries of a task by id; empty if texts are not shown."""
    return read_queries(Path(data.task.queries)) if data.task.queries and settings.texts else {}


def write_task(folder: Path, data: Data, settings: Settings, share: float) -> JsonObject:
    """Write the data of a task; return the part that the page needs before it loads any of it."""
    limits = budget.ranking_limits(data.size, settings.depth, budget.RANKINGS * share)
    over = list(compared_on(settings, data.name).values())
    shown = shown_queries(data, over, limits) if data.runs else []
    rankings, counts = read_rankings(data, shown, limits)
    of_queries, numbering = query_texts(data, settings), Numbering()
    firsts, used = write_rankings(folder, data, rankings, of_queries, numbering)
    room = (budget.RANKINGS + budget.TEXTS) * share - used
    documents = write_texts(folder, data, settings, rankings, numbering, room)
    packed.write(folder, "queries", query_table(data, settings, of_queries, counts))
    places = {query: place for place, query in enumerate(data.queries)}
    said = budget.remarks(data.size, limits, documents["limits"], documents["without"], settings.depth)
    return {
        "label": data.task.label,
        "queries": len(data.queries),
        "shown": [places[query] for query in shown] if len(shown) < len(data.queries) else None,
        "firsts": firsts,
        "documents": documents["per_chunk"],
        "depth": limits.depth,
        "seeds": rankings.seeds,
        "left_out": said if data.runs else ["The values are external, so there are no rankings to show."],
    }


def write_texts(
    folder: Path, data: Data, settings: Settings, rankings: Rankings, numbering: Numbering, room: float
) -> JsonObject:
    """Write the documents of a task; return the limits of their texts, and how many have none."""
    known = list(rankings.ids)
    ids = [known[number] for number in numbering.order]
    with_texts = settings.texts and bool(data.task.corpora)
    shown = texts.read(data.task.corpora, set(ids), budget.LENGTHS[0]) if with_texts else {}
    limits = chosen_texts(shown, ids, numbering.best, rankings.depth, room) if with_texts else None
    records = document_records(shown, ids, numbering.best, limits)
    without = sum(len(record) == 1 for record in records)
    return {"per_chunk": write_documents(folder, records), "limits": limits, "without": without}


def write(folder: Path, metrics: list[Path], runs: list[Path], settings: Settings) -> None:
    """Write the whole folder."""
    shutil.copytree(own_file(PAGE), folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    shutil.copyfile(own_file(STYLE), folder / "report.css")
    values, rankings = by_source("metrics", metrics), by_source("run", runs)
    judgements = {name: read_qrels(Path(task.qrels)) if task.qrels else {} for name, task in settings.tasks.items()}
    all_queries = sum(map(len, judgements.values()))
    tasks, summaries = {}, {name: {} for name in settings.comparisons}
    for name, qrels in judgements.items():
        data = task_data(settings, name, values, rankings, qrels)
        share = budget.share(settings.megabytes, len(data.queries), all_queries)
        tasks[name] = write_task(folder / "data" / name, data, settings, share)
        for comparison, one in compared_on(settings, name).items():
            summaries[comparison][name] = task_summary(data, one)
    packed.write(folder / "data", "experiment", overview(settings, tasks, summaries, tops_of(settings)))


def explorer(metrics: list[Path], runs: list[Path], folder: Path, settings: Settings) -> None:
    """Write a folder with a page that shows single queries and their rankings."""
    if settings.texts:
        named = [path for task in settings.tasks.values() for path in (*task.corpora, task.queries) if path]
        texts.check_there(dict.fromkeys(named), settings.experiment)
    with atomic_folder(folder) as made:
        write(made, metrics, runs, settings)


if __name__ == "__main__":
    job(explorer)
