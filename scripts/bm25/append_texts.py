"""Append further texts to the documents of a corpus, such as the queries that doc2query predicts for them.

Reads a prepared corpus and a file of JSON lines, `{"id": …, "text": …}` or, as such predictions are published, `{"id":
…, "predicted_queries": […]}`; a document may have several lines. Writes a corpus of the same documents in the same
order, from which an index is made. Only the positions of the further texts are in memory, not the texts.
"""

from __future__ import annotations

import sys
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, json_lines, read_corpus, read_ids, write_corpus

EXPECTED = 'expected {"id": …, "text": …} or {"id": …, "predicted_queries": […]}'


def further_text(record: dict[str, Any], place: str) -> tuple[str, str]:
    """The document of a line and its further text, on one line. Raises UserError, beginning with the place."""
    document, text, queries = record.get("id"), record.get("text"), record.get("predicted_queries")
    if text is None and isinstance(queries, list) and all(type(query) is str for query in queries):
        text = " ".join(queries)
    elif queries is not None:
        text = None
    if type(document) is not str or type(text) is not str:
        raise UserError(f"{place}: {EXPECTED}")
    return document, " ".join(text.split())


def gather(file: Path, documents: set[str], scratch: BinaryIO) -> dict[str, array]:
    """Write the further texts to a scratch file, one per line; return the byte offsets of each document's lines.

    Raises UserError for an invalid line, or one of a document that does not exist.
    """
    found: dict[str, array] = {}
    for number, record in json_lines(file):
        document, text = further_text(record, f"{file}:{number}")
        if document not in documents:
            raise UserError(f"{file}:{number}: there is no document {document!r} in the corpus")
        if text:
            found.setdefault(document, array("Q")).append(scratch.tell())
            scratch.write(text.encode() + b"\n")
    if not found:
        raise UserError(f"{file}: contains no text to append; {EXPECTED} on each line")
    return found


def with_texts(corpus: Path, found: dict[str, array], scratch: BinaryIO) -> Iterator[Document]:
    """The documents of a corpus, each with its further texts appended to its own."""
    for document in read_corpus(corpus):
        texts = [document.text]
        for place in found.get(document.id, ()):
            scratch.seek(place)
            texts.append(scratch.readline().decode().rstrip("\n"))
        yield document._replace(text=" ".join(texts).strip()) if len(texts) > 1 else document


def append_texts(corpus: Path, texts: Path, appended: Path) -> None:
    """Append further texts to the documents of a corpus, such as the queries that doc2query predicts for them."""
    with tempfile.TemporaryFile(dir=appended.parent) as scratch:
        found = gather(texts, set(read_ids(corpus)), scratch)
        total = write_corpus(appended, with_texts(corpus, found, scratch))
    print(f"{texts}: {len(found)} of {total} documents have further texts", file=sys.stderr)


if __name__ == "__main__":
    job(append_texts)
