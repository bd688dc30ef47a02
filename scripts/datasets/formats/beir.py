"""BEIR's layout: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), qrels/{train,dev,test}.tsv.

Each file may be packed by gzip or zstd, under this name or with .gz or .zst behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.unpacking import PACKINGS, only_folder_with, packed_or_plain
from scripts.datasets.formats import Collection, Format, identifier, judged_queries, text_in
from scripts.ir.collection import SPLITS, Document, json_lines
from scripts.ir.trec import Qrels, add_judgement

NAME = "beir"
KEYS: dict[str, dict] = {}
FORMAT = Format(
    location="`corpus.jsonl` (_id, title, text), `queries.jsonl` (_id, text), `qrels/{train,dev,test}.tsv`",
    splits=lambda entry: None,
)


@dataclass(frozen=True)
class Options:
    """No key but those of all datasets decides what is read."""


def read(root: Path, options: Options) -> Collection:
    """Read a BEIR folder (found anywhere below `root`). Raises UserError with file and line."""
    folder = only_folder_with(root, "corpus.jsonl", PACKINGS)
    corpus = packed_or_plain(folder / "corpus.jsonl")
    texts = read_queries(packed_or_plain(folder / "queries.jsonl"))
    files = {split: packed_or_plain(folder / "qrels" / f"{split}.tsv") for split in SPLITS}
    qrels = {split: read_qrels(path) for split, path in files.items() if path.is_file()}
    if not qrels:
        raise UserError(f"{folder / 'qrels'}: none of {', '.join(path.name for path in files.values())}")
    queries = {split: judged_queries(texts, judged, str(files[split])) for split, judged in qrels.items()}
    judged = {query for split in qrels.values() for query in split}
    unjudged = {query: text for query, text in texts.items() if query not in judged}
    return Collection(read_documents(corpus), queries, qrels, unjudged)


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents; `title` may be absent."""
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        title, text = text_in(record, "title", where), text_in(record, "text", where)
        yield Document(identifier(record.get("_id"), where, "document"), title, text)


def read_queries(path: Path) -> dict[str, str]:
    """Query id -> text."""
    texts: dict[str, str] = {}
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        query, text = identifier(record.get("_id"), where, "query"), text_in(record, "text", where)
        if not text.strip():
            raise UserError(f"{where}: query {query} has no text")
        if query in texts:
            raise UserError(f"{where}: duplicate query id {query}")
        texts[query] = text
    return texts


def read_qrels(path: Path) -> Qrels:
    """BEIR's qrels: query-id, corpus-id, score, with tabs; a heading line is passed over."""
    qrels: Qrels = {}
    for number, line in lines(path):
        fields = line.split("\t")
        if len(fields) != 3:
            raise UserError(
                f"{path}:{number}: {len(fields)} columns, expected are 3 with tabs: query-id, corpus-id, score"
            )
        if number == 1 and fields[0] in ("query-id", "query_id", "qid"):
            continue
        add_judgement(qrels, *(field.strip() for field in fields), f"{path}:{number}")
    return qrels
