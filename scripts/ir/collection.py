"""A prepared test collection on disk: `corpus.jsonl`, `queries/{split}.jsonl`, `qrels/{split}.qrels`.

Every dataset format is turned into this one layout, so the stages after `datasets` know no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from json.decoder import scanstring
from pathlib import Path
from typing import NamedTuple

from scripts.common.errors import UserError
from scripts.common.files import lines, whole_text
from scripts.common.strict_json import parse_json

SPLITS = ("train", "dev", "test")


class Document(NamedTuple):
    """A document of the corpus; `title` may be empty."""

    id: str
    title: str
    text: str

    @property
    def contents(self) -> str:
        """Title and text in one string: what is indexed and encoded."""
        return f"{self.title} {self.text}".strip()


def _prepared(path: Path, *fields: str) -> Iterator[dict]:
    """The records of a prepared file. UserError, with the line, for one that is not as it was written."""
    for number, line in lines(path):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if type(record) is not dict or any(type(record.get(field)) is not str for field in fields):
            raise UserError(f"{path}:{number}: not as it was written: a record with {', '.join(fields)} is wanted")
        yield record


def read_corpus(path: Path) -> Iterator[Document]:
    """Yield the documents of a prepared corpus in its order."""
    for record in _prepared(path, "_id", "title", "text"):
        yield Document(record["_id"], record["title"], record["text"])


def read_ids(path: Path) -> Iterator[str]:
    """Yield the ids of a prepared corpus in its order; faster than reading the documents."""
    start = '{"_id": "'
    for number, line in lines(path):
        try:
            if not line.startswith(start):
                raise ValueError
            yield scanstring(line, len(start))[0]
        except ValueError:
            raise UserError(f"{path}:{number}: not as it was written: a record with _id is wanted") from None


def write_corpus(path: Path, documents: Iterable[Document]) -> int:
    """Write documents as JSON lines (`_id`, `title`, `text`), whole or not at all; return how many."""
    count = 0
    with whole_text(path) as file:
        for document in documents:
            count += 1
            record = {"_id": document.id, "title": document.title, "text": document.text}
            file.write(json.dumps(record, ensure_ascii=False) + "\n")
    return count


def read_queries(path: Path) -> dict[str, str]:
    """Read a prepared query file: query id -> text, in the file's order."""
    return {record["_id"]: record["text"] for record in _prepared(path, "_id", "text")}


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, contents or query) of each line of a prepared corpus, query file or file of passages, in its order."""
    for record in _prepared(path, "_id", "text"):
        text = record["text"]
        yield record["_id"], f"{record['title']} {text}".strip() if "title" in record else text


def passages_of(path: Path, wanted: set[str] | None = None) -> dict[str, list[str]]:
    """Id -> the contents of its lines, in the file's order: the passages of a text that was split, or the one text.

    `wanted` are the ids to keep (all, if None); no others are kept in memory.
    """
    passages: dict[str, list[str]] = {}
    for name, text in read_texts(path):
        if wanted is None or name in wanted:
            passages.setdefault(name, []).append(text)
    return passages


def write_queries(path: Path, queries: dict[str, str]) -> None:
    """Write queries as JSON lines (`_id`, `text`), whole or not at all."""
    with whole_text(path) as file:
        for query_id, text in queries.items():
            file.write(json.dumps({"_id": query_id, "text": text}, ensure_ascii=False) + "\n")


def json_lines(path: Path) -> Iterator[tuple[int, dict]]:
    """Yield (line number, object) of a user's JSON lines file; UserError names the line that is not a JSON object."""
    for number, line in lines(path):
        record = parse_json(line, f"{path}:{number}")
        if not isinstance(record, dict):
            raise UserError(f"{path}:{number}: a JSON object is wanted, not {type(record).__name__}")
        yield number, record
