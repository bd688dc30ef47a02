"""The explorer: a folder with a page that shows single queries and their rankings, opened from the disk.

Writes index.html and data/, from the data of tasks; reads the page's own files. rankings.py decides what the folder
contains and leaves out.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from ranktrial.common.home import own_file
from ranktrial.common.keys import JsonObject
from ranktrial.explorer import rankings as packed
from ranktrial.explorer.rankings import (
    LENGTHS,
    RANKINGS,
    TEXTS,
    Numbering,
    Rankings,
    beginnings,
    ranking_limits,
    remarks,
    share,
)
from ranktrial.explorer.task_data import (
    Data,
    Explored,
    chosen_texts,
    document_records,
    overview,
    query_table,
    read_rankings,
    shown_queries,
    task_summary,
    tops_of,
    write_documents,
    write_rankings,
)

PAGE, STYLE = "ranktrial/explorer/page", "ranktrial/reports/writing/page.css"


def write_explorer(folder: Path, tasks: Sequence[Data], shown: Explored) -> None:
    """Write the page and the data of all tasks."""
    shutil.copytree(own_file(PAGE), folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    shutil.copyfile(own_file(STYLE), folder / "report.css")
    all_queries = sum(len(data.queries) for data in tasks if data.runs)
    records, summaries = {}, {name: {} for name in shown.comparisons}
    for data in tasks:
        room = share(shown.megabytes, len(data.queries), all_queries)
        records[data.name] = write_task(folder / "data" / data.folder, data, shown, room)
        for name, one in shown.over(data.name).items():
            summaries[name][data.name] = task_summary(data, one)
    packed.write(folder / "data", "experiment", overview(shown, records, summaries, tops_of(shown, tasks)))


def write_task(folder: Path, data: Data, shown: Explored, room: float) -> JsonObject:
    """Write the data of a task in `room` bytes; return the part that the page needs before it loads any of it."""
    limits = ranking_limits(data.size, shown.depth, RANKINGS * room)
    queries = shown_queries(data, list(shown.over(data.name).values()), limits) if data.runs else []
    rankings, counts = read_rankings(data, queries, limits)
    numbering = Numbering()
    firsts, used = write_rankings(folder, data, rankings, numbering)
    documents = write_texts(folder, data, rankings, numbering, (RANKINGS + TEXTS) * room - used)
    packed.write(folder, "queries", query_table(data, shown, counts))
    places = {query: place for place, query in enumerate(data.queries)}
    said = remarks(data.size, limits, documents["limits"], documents["without"], shown.depth)
    return {
        "label": data.label,
        "folder": data.folder,
        "queries": len(data.queries),
        "shown": [places[query] for query in queries] if len(queries) < len(data.queries) else None,
        "firsts": firsts,
        "documents": documents["per_chunk"],
        "depth": limits.depth,
        "seeds": rankings.seeds,
        "left_out": said if data.runs else ["The values are external, so there are no rankings to show."],
    }


def write_texts(folder: Path, data: Data, rankings: Rankings, numbering: Numbering, room: float) -> JsonObject:
    """Write the documents of a task; return the limits of their texts, and how many have none."""
    known = list(rankings.ids)
    ids = [known[number] for number in numbering.order]
    shown = {} if data.documents is None else beginnings(data.documents, set(ids), LENGTHS[0])
    limits = None if data.documents is None else chosen_texts(shown, ids, numbering.best, rankings.depth, room)
    records = document_records(shown, ids, numbering.best, limits)
    without = sum(len(record) == 1 for record in records)
    return {"per_chunk": write_documents(folder, records), "limits": limits, "without": without}
