"""Datasets by their ids in the library ir_datasets (MacAvaney et al. 2021), which fetches and reads them.

The location `ir_datasets:ID` names the documents, `ids` the id of each split. The input is the record that the job
fetch wrote; the library reads the data in its home, without network. Documents are streamed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

from ranktrial.common.errors import UserError
from ranktrial.common.keys import Rule
from ranktrial.common.reading import read_text
from ranktrial.common.strict_json import parse_json
from ranktrial.datasets.formats import (
    Collection,
    FilesOfSplits,
    Format,
    Found,
    Mistake,
    identifier,
    judged_queries,
    same_file_twice,
    unjudged_queries,
    with_texts,
)
from ranktrial.datasets.formats._ir_library import (
    HOME,
    SCHEME,
    document_parts,
    find,
    guarded,
    home_beside,
    md5,
    one_line,
    open_library,
    query_text,
    text_fields,
)
from ranktrial.ir.collection import Document
from ranktrial.ir.trec import Qrels, add_judgement

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*")
LONGEST = 200  # characters of an id
STANCES = {"FIRST": 1, "SECOND": 1, "NEUTRAL": 0, "NO": 0}  # of Touché's documents, on the objects of the question


def mistake(entry: Any) -> Mistake | None:
    """An id that the library cannot have, one for two splits, and a field that is named twice."""
    form = "expected an id of ir_datasets, such as msmarco-passage/dev/small"
    named = {"location": entry.location.removeprefix(SCHEME)}
    named |= {f"ids.{split}": name for split, name in entry.ids.items()}
    for key, name in named.items():
        if not ID.fullmatch(name) or len(name) > LONGEST:
            return Mistake(key, f"{name[:80]!r}: {form}")
    if len(set(entry.fields or [])) < len(entry.fields or []):
        return Mistake("fields", "names a field twice")
    return same_file_twice("ids", entry.ids)


NAME = "ir_datasets"
MEANINGS = {"location": "ir_datasets:ID, the id of the documents"}


@dataclass(frozen=True)
class Options:
    """Split -> id; the fields of a document's text, and that of the query (None: the library's default)."""

    ids: Annotated[FilesOfSplits, "the id of each split's queries and judgements"]
    fields: Annotated[
        list[Annotated[str, Rule(min_length=1)]] | None,
        "the fields of a document that make up its text, in this order; a field named title becomes its title, or "
        "its text if it is the only one; default: the library's choice",
        Rule(min_items=1),
    ] = None
    query_field: Annotated[
        str | None, "the field of a query that is its text; default: the library's choice", Rule(min_length=1)
    ] = None
    grade_field: Annotated[
        str,
        "the field of a judgement that is its grade, such as quality; of Touché's stance, FIRST and SECOND count as 1, "
        "NEUTRAL and NO as 0",
        Rule(min_length=1),
    ] = "relevance"


Keys = Options
FORMAT = Format(
    location="`ir_datasets:ID`, the id of the documents; `ids` gives the id of each split",
    splits=lambda entry: set(entry.ids),
    judgements="ids",
    mistake=mistake,
    one_file=True,
    scheme=SCHEME,
    pinned_by="checksums of its own and checks by them",
)


def read(root: Path, options: Options) -> Collection:
    """Read the data named in the record of a download, `root`. Raises UserError, with the id, if unavailable."""
    record = parse_json(read_text(root), str(root))
    home = home_beside(root)
    check_files(record, home, str(root))
    library = open_library(home, network=False)
    name = record["documents"]
    documents = find(library, name, "docs")
    with one_line(name):
        parts = document_parts(documents.docs_cls(), options.fields, f"{SCHEME}{name}")
    queries: dict[str, dict[str, str]] = {}
    qrels: dict[str, Qrels] = {}
    unjudged: dict[str, dict[str, str]] = {}
    for split, subset in options.ids.items():
        where = f"{SCHEME}{subset}"
        # Training queries may have no judgements: pseudo-labels of BM25 need none.
        dataset = find(library, subset, "queries", *([] if split == "train" else ["qrels"]))
        with one_line(subset):
            text = query_text(dataset.queries_cls(), options.query_field, where)
        texts = read_queries(guarded(subset, dataset.queries_iter), text, where)
        qrels[split] = (
            read_qrels(guarded(subset, dataset.qrels_iter), where, options.grade_field) if dataset.has("qrels") else {}
        )
        queries[split] = judged_queries(texts, qrels[split], where) if dataset.has("qrels") else {}
        unjudged[split] = unjudged_queries(texts, qrels[split])
    found = read_documents(guarded(name, documents.docs_iter), parts, f"{SCHEME}{name}")
    documents = with_texts(found, f"{SCHEME}{name}", text_of(options.fields))
    of_train, of_test = (unjudged.get(split, {}) for split in ("train", "test"))
    return Collection(documents, queries, qrels, of_train, unjudged_test=of_test)


def text_of(fields: list[str] | None) -> str:
    """A text that names the fields of a document's text."""
    if fields is None:
        return "what the library takes for a text, unless fields name others"
    return f"text in fields: {', '.join(text_fields(fields))}"


def check_files(record: Any, home: Path, where: str) -> None:
    """Raise UserError unless the library's files are unchanged since they were fetched."""
    try:
        files = [(home / file["path"], file["md5"]) for file in record["files"] if file.get("md5")]
    except (KeyError, TypeError, AttributeError):
        raise UserError(f"{where}: this is not a record of what ir_datasets fetched; delete it and run again") from None
    for path, expected in files:
        if not path.is_file():
            problem = f"{path}: is missing, and was there when {where} was fetched"
            raise UserError(f"{problem}; set {HOME} as it was, or delete that record and run again")
        if md5(path) != expected:
            raise UserError(f"{path}: is not what was fetched (MD5 differs); delete it and {where}, and run again")


def read_documents(documents: Iterator[Any], parts: Callable[[Any], tuple[str, str]], where: str) -> Iterator[Found]:
    """The documents, one by one, each with the names of its non-empty fields."""
    for document in documents:
        name = identifier(document.doc_id, where, "document")
        try:
            found = Document(name, *parts(document))
        except TypeError as error:
            raise UserError(f"{where}: document {name}: {error}") from None
        yield Found(found, filled(document))


def filled(document: Any) -> Iterator[str]:
    """The names of a document's non-empty fields."""
    return (name for name, value in zip(document._fields, document, strict=True) if value)


def read_queries(queries: Iterator[Any], text: Callable[[Any], str], where: str) -> dict[str, str]:
    """Query id -> text, empty if a query has none."""
    texts: dict[str, str] = {}
    for query in queries:
        name = identifier(query.query_id, where, "query")
        try:
            words = text(query).strip()
        except TypeError as error:
            raise UserError(f"{where}: query {name}: {error}") from None
        if texts.setdefault(name, words) != words:
            raise UserError(f"{where}: duplicate query id {name}")
    return texts


def read_qrels(judgements: Iterator[Any], where: str, field: str) -> Qrels:
    """Query id -> document id -> grade, with unchanged grades; a stance is 1 where the document takes one."""
    qrels: Qrels = {}
    for judged in judgements:
        if field not in judged._fields:
            raise UserError(f"{where}: judgements have no field {field!r}; they have {', '.join(judged._fields)}")
        value = getattr(judged, field)
        grade = STANCES.get(value.value) if isinstance(value, Enum) else value
        add_judgement(qrels, str(judged.query_id), str(judged.doc_id), str(grade), where)
    return qrels
