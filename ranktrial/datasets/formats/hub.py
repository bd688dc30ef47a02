"""Datasets of the Hugging Face hub: corpus, queries and judgements as MTEB, BEIR and BRIGHT lay them out.

The location is hub:ORGANISATION/NAME, of which a `revision` (a commit) is fetched, or a folder or archive in the same
layout. `_hub_files` finds the files. A query may name its relevant documents (`gold_ids`) and its excluded ones
(`excluded_ids`).

Rows are in parquet or JSON lines. Files are streamed; from parquet only the requested columns are read, a few hundred
rows at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.common.keys import JsonObject, Name
from ranktrial.common.urls import HUB, HUB_ID
from ranktrial.datasets.formats import (
    Collection,
    Format,
    Found,
    Mistake,
    identifier,
    judged_queries,
    text_in,
    unjudged_queries,
    with_texts,
)
from ranktrial.datasets.formats._hub_files import CARD, Files, collection_files
from ranktrial.datasets.formats._judgements import PAIRS, read_judgements
from ranktrial.datasets.formats._trec_documents import ID_KEYS, TEXT_KEYS
from ranktrial.ir.collection import Document, json_lines
from ranktrial.ir.trec import Qrels, add_judgement

BATCH = 500  # rows of parquet in memory
Columns = Mapping[str, tuple[str, ...]]  # what is needed -> its possible names, in order of preference
DOCUMENT: Columns = {"id": (*ID_KEYS, "corpus-id"), "text": TEXT_KEYS}
QUERY: Columns = {"id": ("_id", "id", "query-id", "query_id", "qid"), "text": ("text", "query", "question")}
JUDGEMENT: Columns = {
    "query": ("query-id", "query_id", "qid"),
    "document": ("corpus-id", "corpus_id", "docid", "doc_id", "pid"),
    "grade": ("score", "relevance", "label"),
}
PAIR: Columns = {role: names for role, names in JUDGEMENT.items() if role != "grade"}


def columns(path: Path) -> list[str]:
    """The columns of a file; for JSON lines, the keys of the first. Raises UserError for another or damaged file."""
    if path.suffix != ".parquet":
        return next((list(record) for _, record in json_lines(path)), [])
    import pyarrow.parquet as parquet

    try:
        return list(parquet.read_schema(path).names)
    except Exception as error:  # pyarrow raises many kinds
        raise UserError(f"{path}: not a parquet file, or damaged ({_said(error)})") from None


def chosen(path: Path, needed: Columns, what: str) -> dict[str, str]:
    """The column for each need. Raises UserError, with the columns that the file has, if one is not found.

    Judgements of queries and documents alone (NanoBEIR) need no grade: each pair is relevant.
    """
    there = columns(path)
    if needed is JUDGEMENT and len(there) == len(PAIR) and all(set(names) & set(there) for names in PAIR.values()):
        needed = PAIR
    found = {}
    for role, names in needed.items():
        column = next((name for name in names if name in there), None)
        if column is None:
            expected = f"{what} need {role} as {' or '.join(names)}"
            raise UserError(f"{path}: has the columns {', '.join(map(str, there[:20])) or 'none'}; {expected}")
        found[role] = column
    return found


def rows(path: Path, wanted: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row of a file with its place; from parquet, only with the wanted columns."""
    if path.suffix != ".parquet":
        yield from ((f"{path}:{number}", record) for number, record in json_lines(path))
        return
    import pyarrow.parquet as parquet

    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=wanted):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}: row {number}", record
    except (OSError, ValueError) as error:  # pyarrow's own are of these
        raise UserError(f"{path}: damaged behind row {number} ({_said(error)})") from None


def _said(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


GOLD, EXCLUDED, NONE = "gold_ids", "excluded_ids", "N/A"  # columns of BRIGHT's queries, and their value for none
COMMIT = re.compile("[0-9a-f]{40}")

NAME = "hub"
MEANINGS = {"location": "hub:ORGANISATION/NAME, or a folder or archive in the hub's layout"}


@dataclass(frozen=True, kw_only=True)
class JudgementsApart:
    """A repository with judgements only."""

    location: Annotated[str, "hub:ORGANISATION/NAME"]
    revision: Annotated[str, "commit of that repository"]


@dataclass(frozen=True)
class Options:
    """The collection to read of several in one repository; the other keys state what is fetched."""

    subset: Annotated[
        Name | None,
        "one of the repository's subsets, such as a language or domain: the first part of the names of its "
        "configurations (sw-corpus), or a split of each of them",
    ] = None
    revision: Annotated[str | None, "with hub:ID: the commit, which never changes"] = None
    judgements: Annotated[
        JudgementsApart | None,
        "with hub:ID: another repository with the judgements of this one, such as BEIR's hub:BeIR/scifact-qrels",
    ] = None


Keys = Options


def mistake(entry: Any) -> Mistake | None:
    """An id or commit that the hub cannot have, or one although nothing is fetched from the hub."""
    if not entry.location.startswith(HUB):
        return _mistake_here(entry)
    apart = entry.judgements
    places = {"": (entry.location, entry.revision)} | ({"judgements.": apart and (apart.location, apart.revision)})
    for key, (location, revision) in ((key, place) for key, place in places.items() if place):
        if not (location.startswith(HUB) and HUB_ID.fullmatch(location.removeprefix(HUB))):
            return Mistake(f"{key}location", f"{location[:80]!r} does not have the form {HUB}ORGANISATION/NAME")
        if not COMMIT.fullmatch(revision or ""):
            shown = "is missing" if revision is None else f"{revision[:80]!r} can move"
            expected = "a commit, 40 digits and letters a to f: on the hub under Files and versions, History"
            return Mistake(f"{key}revision", f"{shown}; expected {expected}")
    return None


def _mistake_here(entry: Any) -> Mistake | None:
    """A key that is only for the hub, or a local folder without a collection."""
    for key in ("revision", "judgements"):
        if getattr(entry, key) is not None:
            return Mistake(key, f"only valid with {HUB}ID; {entry.location!r} are the files themselves")
    try:
        splits_here(entry)
    except UserError as error:
        return Mistake("subset" if entry.subset else "location", f"{entry.location}: {error}")
    return None


def splits_here(entry: Any) -> set[str] | None:
    """The splits of a local folder. Raises UserError if it has no collection."""
    folder = Path(entry.location)
    if not folder.is_dir():
        return None
    return set(_files_below(_top(folder), entry.subset).judgements) or {"test"}


FORMAT = Format(
    location="`hub:ID` with its `revision`, or a folder: the hub's corpus, queries and qrels (parquet or JSON lines)",
    splits=lambda entry: None,
    splits_here=splits_here,
    mistake=mistake,
    scheme=HUB,
    pinned_by="a commit, which says what each file is",
    other_locations=True,
)


class Queries(NamedTuple):
    """Texts of queries, and documents named in their rows; an id without a text is absent from `texts`."""

    texts: dict[str, str]
    relevant: Qrels
    excluded: dict[str, set[str]]


def read(root: Path, options: Options) -> Collection:
    """Read the files below `root`. Raises UserError, with file and row, for unknown columns or values."""
    folder = _top(root)
    files = _files_below(folder, options.subset)
    paths = {name: folder / name for name in files.every}
    _check_columns(files, paths)
    queries = read_queries([paths[name] for name in files.queries])
    of_files = {split: read_qrels([paths[name] for name in names]) for split, names in files.judgements.items()}
    qrels = of_files or {"test": queries.relevant}
    judged = {query for of_split in qrels.values() for query in of_split}
    where = f"{folder}"
    texts = {split: judged_queries(queries.texts, of_split, where) for split, of_split in qrels.items()}
    found = (document for name in files.corpus for document in read_documents(paths[name]))
    documents = with_texts(found, where, f"a column {' or '.join(DOCUMENT['text'])}")
    return Collection(documents, texts, qrels, unjudged_queries(queries.texts, judged), queries.excluded)


def _top(root: Path) -> Path:
    """The folder itself, or the only folder in it."""
    inside = [path for path in root.iterdir() if not path.name.startswith(".")]
    return _top(inside[0]) if len(inside) == 1 and inside[0].is_dir() else root


def _files_below(folder: Path, subset: str | None) -> Files:
    card = folder / CARD
    return collection_files(files_below(folder), card if card.is_file() else None, subset)


def _check_columns(files: Files, paths: dict[str, Path]) -> None:
    """Raise UserError for unknown columns, before anything is read in full."""
    judged = [name for names in files.judgements.values() for name in names if not name.endswith(".tsv")]
    for names, needed, what in (
        (files.corpus, DOCUMENT, "documents"),
        (files.queries, QUERY, "queries"),
        (judged, JUDGEMENT, "judgements"),
    ):
        for name in names:
            chosen(paths[name], needed, what)
    lacking = [name for name in files.queries if GOLD not in columns(paths[name])]
    if lacking and not files.judgements:
        problem = f"there are neither judgements (default or qrels) nor a column {GOLD} in {lacking[0]}"
        raise UserError(problem)


def read_documents(path: Path) -> Iterator[Found]:
    """Yield the documents of a file; `title` may be absent."""
    named = columns(path)
    column = chosen(path, DOCUMENT, "documents")
    for where, row in rows(path, [*column.values(), *(["title"] if "title" in named else [])]):
        title, text = text_in(row, "title", where), text_in(row, column["text"], where)
        yield Found(Document(identifier(row.get(column["id"]), where, "document"), title, text), named)


def read_queries(paths: list[Path]) -> Queries:
    """The queries of all files. Raises UserError for an id with two texts."""
    queries = Queries({}, {}, {})
    for path in paths:
        column = chosen(path, QUERY, "queries")
        of_documents = [name for name in (GOLD, EXCLUDED) if name in columns(path)]
        for where, row in rows(path, [*column.values(), *of_documents]):
            query, text = identifier(row.get(column["id"]), where, "query"), text_in(row, column["text"], where)
            if queries.texts.setdefault(query, text) != text:
                raise UserError(f"{where}: query {query} has another text than above")
            _add_documents(queries, query, row, where)
    return queries


def _add_documents(queries: Queries, query: str, row: JsonObject, where: str) -> None:
    if relevant := _ids(row, GOLD, where):
        queries.relevant[query] = dict.fromkeys(relevant, 1)
    if excluded := _ids(row, EXCLUDED, where):
        queries.excluded[query] = set(excluded)


def _ids(row: JsonObject, key: str, where: str) -> list[str]:
    """The ids of documents in a column of lists."""
    value = row.get(key) or []
    if not isinstance(value, list):
        raise UserError(f"{where}: {key} is not a list of ids")
    return [identifier(one, where, "document") for one in value if one != NONE]


def read_qrels(paths: list[Path]) -> Qrels:
    """Query id -> document id -> grade, of all files of a split."""
    qrels: Qrels = {}
    for path in paths:
        if path.suffix == ".tsv":
            for query, documents in read_judgements(path).items():
                qrels.setdefault(query, {}).update(documents)
            continue
        column = chosen(path, JUDGEMENT, "judgements")
        for where, row in rows(path, list(column.values())):
            query, document = (identifier(row.get(column[role]), where, role) for role in ("query", "document"))
            grade = str(row.get(column["grade"])) if "grade" in column else PAIRS
            add_judgement(qrels, query, document, grade, where)
    return qrels
