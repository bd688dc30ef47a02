"""TREC collections: documents in TREC markup or JSON lines, topics in TREC markup or two columns, qrels.

The names of the files inside the location are given in the configuration (documents, topics, qrels).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.common.collection import Document, json_lines
from scripts.common.errors import UserError
from scripts.common.files import lines
from scripts.common.trec import read_qrels
from scripts.datasets.formats import Collection, identifier, judged_queries

ID_KEYS = ("_id", "id", "docno", "docid", "doc_id")
TEXT_KEYS = ("text", "contents", "body")
TITLES = ("TITLE", "HEADLINE", "HL", "HEAD", "TTL")
TOPIC_FIELDS = {"title": "title", "description": "desc(?:ription)?", "narrative": "narr(?:ative)?"}


def read(root: Path, settings: dict) -> Collection:
    """Read the files that the settings name, below `root`. Raises UserError with file and line."""
    files = sorted({path for pattern in settings["documents"] for path in root.glob(pattern) if path.is_file()})
    if not files:
        raise UserError(f"no file matches documents: {settings['documents']}")
    queries, qrels = {}, {}
    for split, name in settings["topics"].items():
        texts = read_topics(root / name, settings["topic_field"])
        qrels[split] = read_qrels(root / settings["qrels"][split])
        queries[split] = judged_queries(texts, qrels[split], str(root / settings["qrels"][split]))
    return Collection((document for path in files for document in read_documents(path)), queries, qrels)


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
        text = next((record[key] for key in TEXT_KEYS if key in record), "")
        title = record.get("title") or ""
        if not isinstance(title, str) or not isinstance(text, str):
            raise UserError(f"{where}: title and text must be text")
        yield Document(document, title, text)


def _marked_documents(path: Path) -> Iterator[Document]:
    held: list[str] = []
    start = 0
    for number, line in lines(path):
        if re.match(r"\s*<DOC>", line, re.IGNORECASE):
            if held:
                raise UserError(f"{path}:{number}: a <DOC> begins before that of line {start} has ended")
            start = number
        if start:
            held.append(line)
        if re.search(r"</DOC>\s*$", line, re.IGNORECASE):
            yield _marked_document("\n".join(held), f"{path}:{start}")
            held, start = [], 0
    if held:
        raise UserError(f"{path}:{start}: a <DOC> has no </DOC>")


def _marked_document(markup: str, where: str) -> Document:
    number = re.search(r"<DOCNO>(.*?)</DOCNO>", markup, re.DOTALL | re.IGNORECASE)
    document = identifier(number.group(1).strip() if number else None, where, "document (<DOCNO>)")
    rest = markup[: number.start()] + markup[number.end() :]
    title = ""
    for tag in TITLES:
        found = re.search(rf"<{tag}>(.*?)</{tag}>", rest, re.DOTALL | re.IGNORECASE)
        if found:
            title = _plain(found.group(1))
            rest = rest[: found.start()] + rest[found.end() :]
            break
    bodies = re.findall(r"<TEXT>(.*?)</TEXT>", rest, re.DOTALL | re.IGNORECASE)
    return Document(document, title, _plain(" ".join(bodies) if bodies else rest))


def _plain(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def read_topics(path: Path, field: str) -> dict[str, str]:
    """Query id -> text, from TREC markup (`<top>` or `<topic>`, one of its fields) or two columns with a tab."""
    texts: dict[str, str] = {}
    for where, query, text in _topics(path, field):
        if not text:
            raise UserError(f"{where}: query {query} has no text (topic field: {field})")
        if query in texts:
            raise UserError(f"{where}: query id {query} stands twice")
        texts[query] = text
    return texts


def _topics(path: Path, field: str) -> Iterator[tuple[str, str, str]]:
    numbered = list(lines(path))
    if not numbered or not numbered[0][1].lstrip().startswith("<"):
        for number, line in numbered:
            columns = line.split("\t")
            if len(columns) != 2:
                raise UserError(f"{path}:{number}: {len(columns)} columns, wanted are 2 with a tab: query id, text")
            yield f"{path}:{number}", identifier(columns[0].strip(), f"{path}:{number}", "query"), columns[1].strip()
        return
    start, held = 0, ""
    for number, line in numbered:
        if re.match(r"\s*<top(ic)?\b", line, re.IGNORECASE) and not re.match(r"\s*<topics\b", line, re.IGNORECASE):
            start, held = number, ""
        held += line + "\n"
        if start and re.search(r"</top(ic)?>", line, re.IGNORECASE):
            where = f"{path}:{start}"
            query = _field(held, "num(?:ber)?").removeprefix("Number:").strip()
            said = _field(held, TOPIC_FIELDS[field])
            yield where, identifier(query, where, "topic"), re.sub(r"^(Topic|Description|Narrative):\s*", "", said)
            start = 0
    if start:
        raise UserError(f"{path}:{start}: a topic has no end (</top>)")


def _field(topic: str, name: str) -> str:
    found = re.search(rf"<{name}>([^<]*)", topic, re.IGNORECASE)
    return " ".join(html.unescape(found.group(1)).split()) if found else ""
