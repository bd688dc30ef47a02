"""BEIR's layout: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/{train,dev,test}.tsv.

The qrels have BEIR's three columns or TREC's four, and may then be named .qrels, .txt or .trec. Each file may be
compressed by gzip or zstd, under this name or with .gz or .zst appended.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.unpacking import PACKINGS, only_folder_with, packed_or_plain
from ranktrial.datasets.formats import (
    Collection,
    Format,
    Found,
    identifier,
    judged_queries,
    text_in,
    unjudged_queries,
    with_texts,
)
from ranktrial.datasets.formats._judgements import read_judgements
from ranktrial.ir.collection import SPLITS, Document, json_lines

NAME = "beir"
FORMAT = Format(
    location="`corpus.jsonl` (_id, title, text), `queries.jsonl` (_id, text), `qrels/{train,dev,test}.tsv`",
    splits=lambda entry: None,
    splits_here=lambda entry: splits_below(Path(entry.location or "")),
)


@dataclass(frozen=True)
class Options:
    """The format has no keys of its own."""


def read(root: Path, options: Options) -> Collection:
    """Read a BEIR folder (found anywhere below `root`). Raises UserError with file and line."""
    folder = only_folder_with(root, "corpus.jsonl", PACKINGS)
    files = {split: judgements_of(folder / "qrels", split) for split in SPLITS}
    qrels = {split: read_judgements(path) for split, path in files.items() if path.is_file()}
    if not qrels:
        raise UserError(f"{folder / 'qrels'}: none of {', '.join(path.name for path in files.values())}")
    judged = {query for split in qrels.values() for query in split}
    texts = read_queries(packed_or_plain(folder / "queries.jsonl"), judged)
    queries = {split: judged_queries(texts, of_split, str(files[split])) for split, of_split in qrels.items()}
    corpus = packed_or_plain(folder / "corpus.jsonl")
    documents = with_texts(read_documents(corpus), str(corpus), "the key text")
    return Collection(documents, queries, qrels, unjudged_queries(texts, judged))


def splits_below(location: Path) -> set[str] | None:
    """The splits with judgements in a local folder; None if only the reader can tell."""
    if not any((location / f"corpus.jsonl{ending}").is_file() for ending in PACKINGS):
        return None
    try:
        return {split for split in SPLITS if judgements_of(location / "qrels", split).is_file()} or None
    except UserError:  # two files of one split, which the reader reports
        return None


def judgements_of(folder: Path, split: str) -> Path:
    """The file of a split's judgements, by BEIR's name or one of TREC's. UserError if there are several."""
    files = [packed_or_plain(folder / f"{split}{ending}") for ending in (".tsv", ".qrels", ".txt", ".trec")]
    found = [path for path in files if path.exists()]
    if len(found) > 1:
        raise UserError(f"{folder}: {' and '.join(path.name for path in found)} are both there; expected one")
    return found[0] if found else files[0]


def read_documents(path: Path) -> Iterator[Found]:
    """Yield the documents; `title` may be absent."""
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        title, text = text_in(record, "title", where), text_in(record, "text", where)
        yield Found(Document(identifier(record.get("_id"), where, "document"), title, text), record)


def read_queries(path: Path, judged: Container[str]) -> dict[str, str]:
    """Query id -> text, empty if a query has none and is not judged."""
    texts: dict[str, str] = {}
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        query, text = identifier(record.get("_id"), where, "query"), text_in(record, "text", where)
        if not text.strip() and query in judged:
            raise UserError(f"{where}: query {query} has no text; it has {', '.join(map(repr, record))}")
        if query in texts:
            raise UserError(f"{where}: duplicate query id {query}")
        texts[query] = text if text.strip() else ""
    return texts
