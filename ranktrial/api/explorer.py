"""The explorer of findings: a folder beside the page with each query, its values and, of runs, what both systems rank.

It is the workflow's (ranktrial/explorer). Texts of queries and documents are shown if the caller gives them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from ranktrial.api.evaluating import DOCUMENT, QUERY, column_of
from ranktrial.api.found import Parts
from ranktrial.api.scored import Scored
from ranktrial.common.errors import UserError, shortened
from ranktrial.common.files import atomic_folder
from ranktrial.common.wording import hint
from ranktrial.configuration.sections.configuration import Explorer as Keys
from ranktrial.datasets.formats.beir import read_documents
from ranktrial.explorer.extremes import rows_of_all
from ranktrial.explorer.folder import write_explorer
from ranktrial.explorer.task_data import Comparison, Data, Explored
from ranktrial.ir.collection import Document

SIZE = Keys()  # the workflow's defaults


@dataclass(frozen=True)
class Texts:
    """Texts of queries and documents as a caller gives them: files, mappings or tables, of all tasks or by task."""

    queries: Any = None
    documents: Any = None


@dataclass(frozen=True)
class ExplorerData:
    """The data of all tasks, and what the pages show of them."""

    tasks: Sequence[Data]
    shown: Explored

    @property
    def extremes(self) -> pd.DataFrame:
        """The queries that comparisons win and lose most."""
        return rows_of_all(self.shown, {data.name: data for data in self.tasks})

    def write(self, folder: Path) -> None:
        """Write the folder. Raises UserError for one that is not an explorer."""
        if folder.exists() and not (folder / "data" / "experiment.js").is_file():
            raise UserError(f"{folder}: is there and is no explorer; remove it, or give the page another name")
        with atomic_folder(folder) as made:
            write_explorer(made, self.tasks, self.shown)


def explorer_of(found: Parts, title: str, report: str, texts: Texts) -> ExplorerData | None:
    """The data of the comparisons, which need values per query. Raises UserError for texts of another form."""
    if found.scored is None or not found.comparisons:
        return None
    tasks = list(found.scored.tables)
    comparisons = {
        name: Comparison(
            one.meta.control, one.meta.treatment, found.measure, found.looks.alpha, found.lower_is_better, tasks
        )
        for name, one in found.comparisons.items()
    }
    shown = Explored(
        experiment=title,
        depth=SIZE.depth,
        megabytes=SIZE.megabytes,
        systems={name: name for name in found.scored.systems},
        comparisons=comparisons,
        order=list(comparisons),
        report=report,
    )
    return ExplorerData([_data(found.scored, number, task, texts) for number, task in enumerate(tasks, 1)], shown)


def _data(scored: Scored, number: int, task: str, texts: Texts) -> Data:
    """The data of a task."""
    tables = scored.tables[task]
    runs = {
        system: {str(seed): (lambda run=run: run) for seed, run in enumerate(scored.runs[task, system])}
        for system in tables
        if (task, system) in scored.runs
    }
    qrels = scored.qrels[task] if runs else {}
    queries = list(qrels) or list(dict.fromkeys(query for table in tables.values() for query in table.index))
    values = {system: table.mean(axis=1).to_frame(scored.measure).reindex(queries) for system, table in tables.items()}
    of_queries = {text.id: text.text for text in _texts(texts.queries, task, scored, "queries", QUERY)}
    documents = None if texts.documents is None else _texts(texts.documents, task, scored, "documents", DOCUMENT)
    folder = f"task-{number}"  # a name may be none of a file
    return Data(task, task, folder, queries, qrels, values, runs, list(tables), of_queries, documents)


def _texts(given: Any, task: str, scored: Scored, what: str, columns: Sequence[str]) -> Iterator[Document]:
    """The texts of a task. Raises UserError, at once, for what is neither a file, a mapping nor a table."""
    if given is None:
        return iter(())
    plain = isinstance(given, Mapping) and all(isinstance(text, str) for text in given.values())
    if isinstance(given, Mapping) and not (plain and given.keys() - scored.tables.keys()):
        if unknown := [name for name in given if str(name) not in scored.tables]:
            near = hint(str(unknown[0]), scored.tables)
            raise UserError(f"{what}: no task {unknown[0]!r}{near}; expected {{id: text}}, or this by task")
        return _texts({str(name): of for name, of in given.items()}.get(task), task, scored, what, columns)
    if isinstance(given, str | os.PathLike):
        if not Path(given).is_file():
            raise UserError(f"{what}: {given}: no such file; expected JSON lines with _id and text")
        return (found.document for found in read_documents(Path(given)))
    if isinstance(given, Mapping):
        return (Document(str(name), "", text) for name, text in given.items())
    if isinstance(given, pd.DataFrame):
        ids = given[column_of(given, (*columns, "_id", "id"), what)].astype(str)
        words = given[column_of(given, ("text", "query", "body", "contents"), what)].astype(str)
        titles = given["title"].astype(str) if "title" in given else [""] * len(given)
        return (Document(*cells) for cells in zip(ids, titles, words, strict=True))
    raise UserError(f"{what}: expected a file, {{id: text}} or a table, not {shortened(given)}")
