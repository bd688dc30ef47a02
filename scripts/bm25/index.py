"""BM25 indices: Lucene's of a corpus, one on an Elasticsearch server, and a corpus with further texts to index.

Reads a prepared corpus (`corpus.jsonl`). A Lucene index has each document's title and text, in one field or two; the
folder appears under its name only when it is complete; documents without any text are not indexed, but counted.

On a server, an index is filled unless the server already has the same one; a record (JSON: url, version of the server,
index, its settings and mappings, documents) is written, with which it is searched. The index's name identifies its
content (corpus and settings), so that no index is ever changed.

Further texts are JSON lines, `{"id": …, "text": …}` or, as queries predicted by doc2query are published, `{"id": …,
"predicted_queries": […]}`; a document may have several. They are appended to the documents of a new corpus, in the same
order. Only their positions are in memory, not the texts.
"""

from __future__ import annotations

import sys
import tempfile
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from ranktrial.bm25.lucene import PYSERINI, open_indexer, with_java_errors
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, lines, sha256, write_json
from ranktrial.common.progress import Progress
from ranktrial.common.reading import ahead
from ranktrial.ir.collection import Document, json_lines, read_corpus, read_ids, write_corpus

# The characters handed to Java at a time: not too few, since this thread waits for Python's lock each time, and not too
# many, since two such chunks are in memory.
DOCUMENTS, CHARACTERS = 5000, 4_000_000


@dataclass(frozen=True)
class Settings:
    analyzer: Annotated[str, "english stems and drops stop words, standard does neither; or the code of a language"]
    fields: Annotated[Literal["together", "best"], "title and text as one field, or the better one counts"]
    vectors: Annotated[bool, "keep the terms of each document, for feedback"] = False
    lucene: Annotated[int | None, "the major version, where terms depend on it: another one indexes again"] = None


def chunks(corpus: Path) -> Iterator[list[Document]]:
    """The documents in chunks, each handed to Java at once."""
    chunk: list[Document] = []
    characters = 0
    for document in read_corpus(corpus):
        chunk.append(document)
        characters += len(document.text)
        if len(chunk) == DOCUMENTS or characters >= CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def build(corpus: Path, folder: Path, how: dict[str, Any] = PYSERINI) -> tuple[int, int]:
    """Index a corpus into `folder`, whole or not at all; `how` has the analyzer, the fields and optionally vectors.

    Returns the number of documents in the corpus and in the index. Raises UserError if there is nothing to index.
    """
    total = sum(1 for _ in lines(corpus))
    if not total:
        raise UserError(f"{corpus}: the corpus is empty, so there is nothing to index")
    progress = Progress("indexed", total, "document")
    with atomic_folder(folder) as temporary:
        indexer = open_indexer(temporary, **how)
        indexed = 0
        for documents, records in ahead((len(chunk), indexer.records(chunk)) for chunk in chunks(corpus)):
            indexed += indexer.add(records)
            progress.add(documents)
        indexer.close()
        if not indexed:
            raise UserError(f"{corpus}: no document has any text, so there is nothing to index")
    return total, indexed


@with_java_errors
def index(corpus: Path, index: Path, settings: Settings) -> None:
    """Build the BM25 index of a corpus."""
    how = {"analyzer": settings.analyzer, "fields": settings.fields, "vectors": settings.vectors}
    total, indexed = build(corpus, index, how)
    print(f"{corpus}: {indexed} of {total} documents indexed", file=sys.stderr)
    if indexed < total:
        print(f"{total - indexed} documents without text are not in the index", file=sys.stderr)


def index_elasticsearch(
    corpus: Path, record: Path,
    url: Annotated[str, "the server's address"],
    analyzer: Annotated[Literal["english", "standard"], "english stems and drops stop words, standard does neither"],
    fields: Annotated[Literal["together", "best"], "title and text as one field, or the better one counts"],
    k1: Annotated[float, "BM25's k1"],
    b: Annotated[float, "BM25's b"],
    depth: Annotated[int, "documents per query that are searched for"],
) -> None:  # fmt: skip
    """Put a corpus on an Elasticsearch server."""
    from ranktrial.bm25.server import Server, definition, index_name

    total = sum(1 for _ in lines(corpus))
    if not total:
        raise UserError(f"{corpus}: the corpus is empty, so there is nothing to index")
    made = definition(analyzer=analyzer, fields=fields, k1=k1, b=b, depth=depth)
    name = index_name(sha256(corpus), made)
    server = Server(url)
    documents = server.create(name, made, read_corpus(corpus), fields, total)
    about = {"url": url, "version": server.version, "index": name, "documents": documents} | made
    write_json(record, about, indent=2, sort_keys=True)
    print(f"{url}: {documents} of {total} documents in the index {name}", file=sys.stderr)


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
    job(index, index_elasticsearch, append_texts)
