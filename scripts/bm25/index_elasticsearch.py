"""Put a corpus on an Elasticsearch server.

Reads a prepared corpus (`corpus.jsonl`) and fills an index of the server at the settings' `url`, unless the server
already has the same index; writes a record (JSON: url, version of the server, index, its settings and mappings,
documents) with which the index is searched. The index's name identifies its content (corpus and settings), so that no
index is ever changed.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from ranktrial.bm25.server import Server, definition, index_name
from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines, sha256, write_json
from ranktrial.ir.collection import read_corpus


@dataclass(frozen=True)
class Settings:
    url: Annotated[str, "the server's address"]
    analyzer: Annotated[Literal["english", "standard"], "english stems and drops stop words, standard does neither"]
    fields: Annotated[Literal["together", "best"], "title and text as one field, or the better one counts"]
    k1: Annotated[float, "BM25's k1"]
    b: Annotated[float, "BM25's b"]
    depth: Annotated[int, "documents per query that are searched for"]


def main() -> None:
    options = parser(__doc__, "corpus", "record", settings=Settings).parse_args()
    how = asdict(options.settings)
    url = how.pop("url")
    total = sum(1 for _ in lines(options.corpus))
    if not total:
        raise UserError(f"{options.corpus}: the corpus is empty, so there is nothing to index")
    made = definition(**how)
    name = index_name(sha256(options.corpus), made)
    server = Server(url)
    documents = server.create(name, made, read_corpus(options.corpus), how["fields"], total)
    record = {"url": url, "version": server.version, "index": name, "documents": documents} | made
    write_json(options.record, record, indent=2, sort_keys=True)
    print(f"{url}: {documents} of {total} documents in the index {name}", file=sys.stderr)


if __name__ == "__main__":
    run(main)
