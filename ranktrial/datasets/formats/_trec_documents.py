"""The documents of a TREC collection on disk: TREC markup, JSON lines or tab-separated columns.

JSON lines may have the keys of Anserini and of MS MARCO (v2, v2.1), columns are those of MS MARCO's two files:
collection.tsv (id, text) and msmarco-docs.tsv (docid, url, title, body). Title and text are those of ir_datasets'
`default_text`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.datasets.formats import Found, identifier, text_in
from ranktrial.ir.collection import Document, json_lines

ID_KEYS = ("_id", "id", "docno", "pid", "docid", "doc_id")  # a passage of MS MARCO v2 has its document's docid, too
TEXT_KEYS = ("text", "contents", "body", "segment", "passage", "content")
EXPECTED = f"TREC markup with <TEXT>, JSON lines with one of the keys {', '.join(TEXT_KEYS)}, or columns id, text"
TITLES = ("TITLE", "HEADLINE", "HL", "HEAD", "TTL")
COLUMNS = {2: ("id", "text"), 4: ("docid", "url", "title", "body")}
_MARKUP = re.compile(r"\s*(?:<[^>]*>\s*)+")
_OF_DOCUMENT = re.compile(r"</?DOC>|<DOCNO>", re.IGNORECASE)
_NAME = re.compile(r"<([A-Za-z][^\s<>/]{0,40})")


def read_documents(path: Path, encoding: str) -> Iterator[Found]:
    """Yield the documents of one file, in the form that its first line has. Raises UserError with file and line."""
    first = next((line for _, line in lines(path, encoding)), "")
    if first.lstrip().startswith("{"):
        yield from _json_documents(path, encoding)
    elif first.lstrip().startswith("<"):
        yield from _marked_documents(path, encoding)
    elif "\t" in first:
        yield from _documents_in_columns(path, encoding)
    else:
        raise UserError(f"{path}:1: neither TREC markup (<DOC>), nor JSON lines, nor columns with a tab (id, text)")


def _json_documents(path: Path, encoding: str) -> Iterator[Found]:
    for number, record in json_lines(path, encoding):
        where = f"{path}:{number}"
        document = identifier(next((record[key] for key in ID_KEYS if key in record), None), where, "document")
        text = next((text for key in TEXT_KEYS if (text := text_in(record, key, where)).strip()), "")
        headings = record.get("headings")  # of MS MARCO's pages
        if isinstance(headings, str) and headings.strip():
            text = f"{headings} {text}"
        yield Found(Document(document, text_in(record, "title", where), text), record)


def _documents_in_columns(path: Path, encoding: str) -> Iterator[Found]:
    names: tuple[str, ...] | None = None
    for number, line in lines(path, encoding):
        fields = line.split("\t")
        if names is None:
            if fields[0] in ID_KEYS and set(fields) & set(TEXT_KEYS):
                names = tuple(fields)
                continue
            names = COLUMNS.get(len(fields), ())
        if len(fields) != len(names):
            several = f"{len(names)} as above" if names else "2 (id, text) or 4 (docid, url, title, body)"
            raise UserError(f"{path}:{number}: {len(fields)} columns separated by tabs, expected {several}")
        record = dict(zip(names, fields, strict=True))
        document = identifier(fields[0], f"{path}:{number}", "document")
        text = next((record[key] for key in TEXT_KEYS if key in record), "")
        yield Found(Document(document, record.get("title", ""), text), names)


def _marked_documents(path: Path, encoding: str) -> Iterator[Found]:
    document_lines: list[str] = []
    start = count = 0
    for number, line in lines(path, encoding):
        if re.match(r"\s*<DOC>", line, re.IGNORECASE):
            if document_lines:
                raise UserError(f"{path}:{number}: a <DOC> begins before that of line {start} has ended")
            start = number
        if start:
            document_lines.append(line)
        elif not _MARKUP.fullmatch(line) or _OF_DOCUMENT.search(line):
            raise UserError(f"{path}:{number}: this is outside of any document: a <DOC> begins a line, </DOC> ends one")
        if re.search(r"</DOC>\s*$", line, re.IGNORECASE):
            markup = "\n".join(document_lines)
            yield Found(_marked_document(markup, f"{path}:{start}"), _names(markup))
            document_lines, start, count = [], 0, count + 1
    if document_lines:
        raise UserError(f"{path}:{start}: a <DOC> has no </DOC>")
    if not count:
        raise UserError(f"{path}:1: no <DOC> in it")


def _names(markup: str) -> Iterable[str]:
    return (f"<{name[1]}>" for name in _NAME.finditer(markup))


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
    """The start and end of elements of this name, in linear time even for malformed markup."""
    starting, ending = (re.compile(f"<{slash}{tag}>", re.IGNORECASE) for slash in ("", "/"))
    start = starting.search(markup)
    while start and (end := ending.search(markup, start.end())):
        yield start, end
        start = starting.search(markup, end.end())


def _cut(markup: str, tag: str) -> tuple[str | None, str]:
    """The content of the first element of this name (None: there is none), and the markup without it."""
    for start, end in _elements(markup, tag):
        return markup[start.end() : end.start()], markup[: start.start()] + markup[end.end() :]
    return None, markup


def _plain(markup: str) -> str:
    tagged, sign, rest = markup.rpartition(">")  # no tag ends after the last >, and searching for its end is slow
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", tagged + sign) + rest).split())
