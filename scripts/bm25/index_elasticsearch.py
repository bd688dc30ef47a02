"""Put a corpus on an Elasticsearch server.

Reads a prepared corpus (`corpus.jsonl`) and fills an index of the server at the settings' `url`, unless the server
already has the same index; writes a record (JSON: url, version of the server, index, its settings and mappings,
documents) with which the index is searched. The index's name identifies its content (corpus and settings), so that no
index is ever changed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from ranktrial.bm25.server import Server, definition, index_name
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines, sha256, write_json
from ranktrial.ir.collection import read_corpus


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


if __name__ == "__main__":
    job(index_elasticsearch)
