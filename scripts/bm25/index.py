"""Build the BM25 index of a corpus.

Reads a prepared corpus (`corpus.jsonl`), writes a Lucene index of each document's title and text, in one field or two.
The folder appears under its name only when it is complete; documents without any text are not indexed, but counted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from ranktrial.bm25.fields import PYSERINI, open_indexer
from ranktrial.bm25.lucene import with_java_errors
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, lines
from ranktrial.common.progress import Progress
from ranktrial.common.reading import ahead
from ranktrial.ir.collection import Document, read_corpus

# The characters handed to Java at a time: not too few, since this thread waits for Python's lock each time, and not too
# many, since two such chunks are in memory.
DOCUMENTS, CHARACTERS = 5000, 4_000_000


@dataclass(frozen=True)
class Settings:
    analyzer: Annotated[str, "english stems and drops stop words, standard does neither; or the code of a language"]
    fields: Annotated[Literal["together", "best"], "title and text as one field, or the better one counts"]
    vectors: Annotated[bool, "keep the terms of each document, for feedback"] = False


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
    total, indexed = build(corpus, index, asdict(settings))
    print(f"{corpus}: {indexed} of {total} documents indexed", file=sys.stderr)
    if indexed < total:
        print(f"{total - indexed} documents without text are not in the index", file=sys.stderr)


if __name__ == "__main__":
    job(index)
