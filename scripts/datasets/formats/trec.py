"""TREC collections: documents in TREC markup or JSON lines, topics in TREC markup or two columns, qrels.

The names of the files inside the location are given in the configuration (documents, topics, qrels).
"""

from __future__ import annotations

import html
import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.paths import why_not_below
from scripts.datasets.formats import (
    FILES_OF_SPLITS,
    Collection,
    Format,
    Mistake,
    file_in,
    identifier,
    judged_queries,
    outside,
    same_file_twice,
    text_in,
)
from scripts.ir.collection import Document, json_lines
from scripts.ir.trec import Qrels, read_qrels, shown

ID_KEYS = ("_id", "id", "docno", "docid", "doc_id")
TEXT_KEYS = ("text", "contents", "body")
TITLES = ("TITLE", "HEADLINE", "HL", "HEAD", "TTL")
TOPIC_FIELDS = {"title": "title", "description": "desc(?:ription)?", "narrative": "narr(?:ative)?"}
_MARKUP = re.compile(r"\s*(?:<[^>]*>\s*)+")
_OF_DOCUMENT = re.compile(r"</?DOC>|<DOCNO>", re.IGNORECASE)
_TOPIC_TAG = re.compile(r"<(/?)top(?:ic)?(?:\s[^<>]*)?>", re.IGNORECASE)


def mistake(entry: dict[str, Any]) -> Mistake | None:
    """Topics and qrels of other splits, a file that does not lie below the location, or one that two splits name."""
    topics, qrels = entry["topics"], entry["qrels"]
    if set(topics) - {"train"} != set(qrels) - {"train"} or not set(qrels) <= set(topics):
        return Mistake("topics", "topics and qrels must name the same splits; train alone may lack qrels")
    for pattern in entry["documents"]:
        if reason := why_no_pattern(pattern):
            expected = "expected are file names or patterns below the location, such as docs/*.jsonl"
            return Mistake("documents", f"{pattern!r} {reason}; {expected}")
    return outside("topics", topics) or outside("qrels", qrels) or same_file_twice("qrels", qrels)


def why_no_pattern(pattern: str) -> str | None:
    """Why a pattern cannot name files below a folder; None where it can."""
    if reason := why_not_below(pattern):
        return reason
    if any("**" in part and part != "**" for part in pattern.split("/")):
        return "is no pattern: ** stands alone between two /"
    if pattern.endswith("**"):
        return "names folders, not files"
    return None


NAME = "trec"
KEYS = {
    "documents": {
        "description": "file names or patterns inside the location (TREC markup or JSON lines)",
        "type": "array",
        "items": {"type": "string"},
        "minItems": 1,
    },
    "topics": {
        "description": (
            "a topics file for each split (TREC topics, two columns with a tab: query id, text; of Touché its XML)"
        ),
        "$ref": FILES_OF_SPLITS,
    },
    "qrels": {"description": "a qrels file for each split", "$ref": FILES_OF_SPLITS},
    "topic_field": {
        "description": "the topic's field that is the query",
        "enum": list(TOPIC_FIELDS),
        "default": "title",
    },
}
FORMAT = Format(
    location=(
        "documents in TREC markup or JSON lines, topics (TREC, XML or two columns), qrels; "
        "file names in `documents`, `topics`, `qrels`"
    ),
    splits=lambda entry: set(entry["qrels"]),
    unjudged=lambda entry: "train" in set(entry["topics"]) - set(entry["qrels"]),
    required=("documents", "topics", "qrels"),
    judgements="qrels",
    mistake=mistake,
)


@dataclass(frozen=True)
class Options:
    """The files inside the location: patterns of documents, and split -> file; and which field is the query."""

    documents: list[str]
    topics: dict[str, str]
    qrels: dict[str, str]
    topic_field: Literal["title", "description", "narrative"] = "title"


def read(root: Path, options: Options) -> Collection:
    """Read the files that the options name, below `root`. Raises UserError with file and line."""
    files = sorted({path for pattern in options.documents for path in matching(root, pattern)})
    queries: dict[str, dict[str, str]] = {}
    qrels: dict[str, Qrels] = {}
    unjudged: dict[str, str] = {}
    for split, name in options.topics.items():
        texts = read_topics(file_in(root, name, f"topics.{split}"), options.topic_field)
        qrels[split], queries[split] = {}, {}
        if split in options.qrels:
            judged = file_in(root, options.qrels[split], f"qrels.{split}")
            qrels[split] = read_qrels(judged)
            queries[split] = judged_queries(texts, qrels[split], str(judged))
        if split == "train":
            unjudged = {query: text for query, text in texts.items() if query not in qrels[split]}
    return Collection((document for path in files for document in read_documents(path)), queries, qrels, unjudged)


def matching(root: Path, pattern: str) -> list[Path]:
    """What a pattern of `documents` names below `root`, but folders; links in a user's own folder are followed.

    Raises UserError for a pattern that is none, leads out of the location or matches no file.
    """
    place = f"documents: {shown(pattern)}"
    if reason := why_not_below(pattern):
        raise UserError(f"{place} {reason}; expected is a file name or pattern below the location")
    try:
        matches = list(root.glob(pattern))
    except (ValueError, IndexError, re.error, RecursionError) as error:
        raise UserError(f"{place} is no pattern: {error}") from None
    files = [path for path in matches if not path.is_dir()]
    if not files:
        why = "matches no file but folders: name their files, such as folder/*" if matches else "matches no file"
        raise UserError(f"{place} {why}")
    return files


def read_documents(path: Path) -> Iterator[Document]:
    """Yield the documents of one file, TREC markup or JSON lines by its first sign."""
    first = next((line.lstrip() for _, line in lines(path)), "")
    if first.startswith("{"):
        yield from _json_documents(path)
    elif first.startswith("<"):
        yield from _marked_documents(path)
    else:
        raise UserError(f"{path}:1: neither TREC markup (<DOC>) nor JSON lines")


def _json_documents(path: Path) -> Iterator[Document]:
    for number, record in json_lines(path):
        where = f"{path}:{number}"
        document = identifier(next((record[key] for key in ID_KEYS if key in record), None), where, "document")
        text = next((text_in(record, key, where) for key in TEXT_KEYS if key in record), "")
        yield Document(document, text_in(record, "title", where), text)


def _marked_documents(path: Path) -> Iterator[Document]:
    document_lines: list[str] = []
    start = count = 0
    for number, line in lines(path):
        if re.match(r"\s*<DOC>", line, re.IGNORECASE):
            if document_lines:
                raise UserError(f"{path}:{number}: a <DOC> begins before that of line {start} has ended")
            start = number
        if start:
            document_lines.append(line)
        elif not _MARKUP.fullmatch(line) or _OF_DOCUMENT.search(line):
            raise UserError(f"{path}:{number}: this stands in no document: a <DOC> begins a line, </DOC> ends one")
        if re.search(r"</DOC>\s*$", line, re.IGNORECASE):
            yield _marked_document("\n".join(document_lines), f"{path}:{start}")
            document_lines, start, count = [], 0, count + 1
    if document_lines:
        raise UserError(f"{path}:{start}: a <DOC> has no </DOC>")
    if not count:
        raise UserError(f"{path}:1: not one <DOC> in it")


def _marked_document(markup: str, where: str) -> Document:
    if len(re.findall(r"<DOC>", markup, re.IGNORECASE)) > 1 or len(re.findall(r"<DOCNO>", markup, re.IGNORECASE)) > 1:
        raise UserError(f"{where}: two documents in one <DOC>: a <DOC> begins a line, </DOC> ends one")
    number, rest = _cut(markup, "DOCNO")
    document = identifier(number and number.strip(), where, "document (<DOCNO>)")
    title = None
    for tag in TITLES:
        title, rest = _cut(rest, tag)
        if title is not None:
            break
    bodies = [rest[start.end() : end.start()] for start, end in _elements(rest, "TEXT")]
    return Document(document, _plain(title or ""), _plain(" ".join(bodies) if bodies else rest))


def _elements(markup: str, tag: str) -> Iterator[tuple[re.Match, re.Match]]:
    """Where the elements of this name begin and end; time grows with the markup's length, whatever it lacks."""
    starting, ending = (re.compile(f"<{slash}{tag}>", re.IGNORECASE) for slash in ("", "/"))
    start = starting.search(markup)
    while start and (end := ending.search(markup, start.end())):
        yield start, end
        start = starting.search(markup, end.end())


def _cut(markup: str, tag: str) -> tuple[str | None, str]:
    """What the first element of this name holds (None: there is none), and the markup without it."""
    for start, end in _elements(markup, tag):
        return markup[start.end() : end.start()], markup[: start.start()] + markup[end.end() :]
    return None, markup


def _plain(markup: str) -> str:
    tagged, sign, rest = markup.rpartition(">")  # behind the last > no tag ends, and looking for its end takes long
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", tagged + sign) + rest).split())


def read_topics(path: Path, field: str) -> dict[str, str]:
    """Query id -> text, from TREC markup (`<top>` or `<topic>`, one of its fields) or two columns with a tab."""
    texts: dict[str, str] = {}
    for where, query, text in _topics(path, field):
        if not text:
            raise UserError(f"{where}: query {query} has no text (topic field: {field})")
        if query in texts:
            raise UserError(f"{where}: duplicate query id {query}")
        texts[query] = text
    return texts


def _topics(path: Path, field: str) -> Iterator[tuple[str, str, str]]:
    numbered = list(lines(path))
    if not numbered or not numbered[0][1].lstrip().startswith("<"):
        for number, line in numbered:
            columns = line.split("\t")
            if len(columns) != 2:
                raise UserError(f"{path}:{number}: {len(columns)} columns, expected are 2 with a tab: query id, text")
            yield f"{path}:{number}", identifier(columns[0].strip(), f"{path}:{number}", "query"), columns[1].strip()
        return
    for where, topic in _marked_topics(path, numbered):
        query = _field(topic, "num(?:ber)?", where).removeprefix("Number:").strip()
        text = _field(topic, TOPIC_FIELDS[field], where)
        yield where, identifier(query, where, "topic"), re.sub(r"^(Topic|Description|Narrative):\s*", "", text)


def _marked_topics(path: Path, numbered: list[tuple[int, str]]) -> Iterator[tuple[str, str]]:
    """Yield (`file:line` where it begins, markup) of each topic."""
    text = "\n".join(line for _, line in numbered)
    starts = list(accumulate((len(line) + 1 for _, line in numbered), initial=0))
    begun: tuple[int, str] | None = None
    count = 0
    for tag in _TOPIC_TAG.finditer(text):
        line = numbered[bisect(starts, tag.start()) - 1][0]
        if tag[1] and begun is None:
            raise UserError(f"{path}:{line}: a topic ends that has not begun")
        if not tag[1] and begun is not None:
            raise UserError(f"{path}:{line}: a topic begins before that of {begun[1]} has ended")
        if begun is None:
            begun, count = (tag.start(), f"{path}:{line}"), count + 1
        else:
            yield begun[1], text[begun[0] : tag.end()]
            begun = None
    if begun is not None:
        raise UserError(f"{begun[1]}: a topic has no end (</top>)")
    if not count:
        raise UserError(f"{path}:1: neither TREC topics (<top> or <topic>) nor two columns with a tab")


def _field(topic: str, name: str, where: str) -> str:
    texts = re.findall(rf"<{name}>((?:[^<]|<(?![A-Za-z/!?]))*)", topic, re.IGNORECASE)
    if len(texts) > 1 and name.startswith("num"):
        raise UserError(f"{where}: two numbers in one topic")
    return " ".join(html.unescape(texts[0]).split()) if texts else ""
