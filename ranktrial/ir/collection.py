"""A prepared test collection on disk: `corpus.jsonl`, `queries/{split}.jsonl`, `qrels/{split}.qrels`.

Every dataset format is converted to this layout, so that the later stages read no other.

Documents that are excluded for a query: they are in none of its runs, and are not used as its negatives.

These are the query itself if it is in the corpus (`own_document: drop`), and documents that a file names (`excluded`).
A prepared query file lists them with the query's text. A search retrieves as many more documents and removes them
before it cuts at its depth.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from json.decoder import scanstring  # type: ignore[attr-defined]  # there, if unknown to the types
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, lines
from ranktrial.common.reading import UTF_8
from ranktrial.common.strict_json import parse_json

Excluded = Mapping[str, Collection[str]]  # query id -> document ids; queries without any are absent
NOTHING: Excluded = MappingProxyType({})


def without(scores: Mapping[str, float], excluded: Collection[str], depth: int | None = None) -> dict[str, float]:
    """The first `depth` documents of a query (None: all) that are not excluded, in the order of `scores`."""
    return dict(islice((item for item in scores.items() if item[0] not in excluded), depth))


def most(excluded: Excluded) -> int:
    """The maximum number of documents that are excluded for a query."""
    return max(map(len, excluded.values()), default=0)


SPLITS = ("train", "dev", "test")
EXCLUDED = "excluded"  # key of a query's record


class Document(NamedTuple):
    """A document of the corpus; `title` may be empty."""

    id: str
    title: str
    text: str

    @property
    def contents(self) -> str:
        """Title and text in one string, as indexed and encoded."""
        return f"{self.title} {self.text}".strip()


def _prepared(path: Path, *fields: str, first: int = 0, last: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield the records of a prepared file. Raises UserError, with the line, if one lacks a field of type text."""
    for number, line in islice(lines(path), first, last):
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        if type(record) is not dict or any(type(record.get(field)) is not str for field in fields):
            raise UserError(f"{path}:{number}: was changed or damaged: expected a record with {', '.join(fields)}")
        yield record


def read_corpus(path: Path, first: int = 0, last: int | None = None) -> Iterator[Document]:
    """Yield the documents of a prepared corpus in file order: all, or those at positions `first` to `last` (exclusive).

    Raises UserError for a damaged line.
    """
    for record in _prepared(path, "_id", "title", "text", first=first, last=last):
        yield Document(record["_id"], record["title"], record["text"])


def read_ids(path: Path) -> Iterator[str]:
    """Yield the document ids of a prepared corpus in file order; faster than `read_corpus`."""
    start = '{"_id": "'
    for number, line in lines(path):
        try:
            if not line.startswith(start):
                raise ValueError
            yield scanstring(line, len(start))[0]
        except ValueError:
            raise UserError(f"{path}:{number}: was changed or damaged: expected a record with _id") from None


def write_corpus(path: Path, documents: Iterable[Document], excluded: Excluded = NOTHING) -> int:
    """Write documents as JSON lines (`_id`, `title`, `text`) atomically; return their number.

    Passages of queries are written in the same way, with the documents that are `excluded` for them.
    """
    count = 0
    with atomic_text(path) as file:
        for document in documents:
            count += 1
            record = {"_id": document.id, "title": document.title, "text": document.text}
            file.write(_line(record, excluded))
    return count


def _line(record: dict[str, Any], excluded: Excluded) -> str:
    documents = excluded.get(record["_id"])
    return json.dumps(record | ({EXCLUDED: sorted(documents)} if documents else {}), ensure_ascii=False) + "\n"


def read_queries(path: Path) -> dict[str, str]:
    """Read a prepared query file: query id -> text, in file order."""
    return {record["_id"]: record["text"] for record in _prepared(path, "_id", "text")}


def read_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (id, title and text) of each line of a prepared corpus, query file or file of passages, in file order."""
    for record in _prepared(path, "_id", "text"):
        text = record["text"]
        yield record["_id"], f"{record['title']} {text}".strip() if "title" in record else text


def passages_of(path: Path, wanted: set[str] | None = None) -> dict[str, list[str]]:
    """Id -> the texts of its lines, in file order: the passages of a text that was split, or the text itself.

    `wanted` are the ids to read (None: all); only these are held in memory.
    """
    passages: dict[str, list[str]] = {}
    for name, text in read_texts(path):
        if wanted is None or name in wanted:
            passages.setdefault(name, []).append(text)
    return passages


def write_queries(path: Path, queries: dict[str, str], excluded: Excluded = NOTHING) -> None:
    """Write queries as JSON lines (`_id`, `text` and, if there are any, `excluded`: document ids) atomically."""
    with atomic_text(path) as file:
        for query_id, text in queries.items():
            file.write(_line({"_id": query_id, "text": text}, excluded))


def read_excluded(path: Path) -> dict[str, set[str]]:
    """Query id -> its excluded documents, from a prepared query file or one of passages of queries.

    Queries without any are absent. Raises UserError for a damaged record.
    """
    excluded = {}
    for record in _prepared(path, "_id", "text"):
        documents = record.get(EXCLUDED, [])
        if type(documents) is not list or any(type(document) is not str for document in documents):
            raise UserError(f"{path}: was changed or damaged: {EXCLUDED} of {record['_id']} is not a list of ids")
        if documents:
            excluded[record["_id"]] = set(documents)
    return excluded


def json_lines(path: Path, encoding: str = UTF_8) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) of a user's JSON lines file.

    NaN and infinity, which pandas writes for missing values, are accepted as numbers: they are in unused keys, or are
    refused where text or an id is expected. Raises UserError for a line that is not an object.
    """
    for number, line in lines(path, encoding):
        record = parse_json(line, f"{path}:{number}", any_float=True)
        if not isinstance(record, dict):
            raise UserError(f"{path}:{number}: expected a JSON object, not {type(record).__name__}")
        yield number, record
