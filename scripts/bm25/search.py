"""Search an index with BM25.

Reads an index (a folder, or the record of one on an Elasticsearch server), queries and (optionally) the parameters that
tuning chose; writes a TREC run of the `depth` best documents a query, and its timing with the k1 and b used. A query of
which analysis leaves no term (stop words alone) finds nothing: it has no line in the run and is reported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.bm25.fields import PYSERINI, FieldSearcher, open_index
from scripts.bm25.lucene import Searcher, threads, told
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.ir.collection import read_queries
from scripts.ir.trec import write_run


def parameters(settings: dict, files: list[Path]) -> dict[str, float]:
    """k1 and b: from the tuned parameters' file if one is given, else from the settings."""
    source = json.loads(files[0].read_text()) if files else settings
    return {"k1": float(source["k1"]), "b": float(source["b"])}


def open_any(index: Path, settings: dict, used: dict[str, float]) -> tuple[Searcher | FieldSearcher, dict]:
    """The searcher of an index here or of a record's, and what is to be kept of the record."""
    chosen = {name: settings[name] for name in PYSERINI}
    if index.is_dir() or index.suffix != ".json":
        return open_index(index, **used, **chosen), {"threads": threads()}
    from scripts.bm25.server import Server, ServerSearcher

    record = json.loads(index.read_text())
    return ServerSearcher(Server(record["url"]), record["index"], chosen["fields"]), {"elasticsearch": record}


def main() -> None:
    options = parser(__doc__, "index", "queries", "run", "timing", "parameters*").parse_args()
    settings = options.settings
    queries = read_queries(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    used = parameters(settings, options.parameters)
    searcher, kept = open_any(options.index, settings, used)
    texts = list(queries.values())
    searcher.search(texts[0], settings["depth"])  # the warm-up
    start = clock()
    found = searcher.batch(queries, settings["depth"])
    seconds = clock() - start
    singles = single_seconds(lambda text: searcher.search(text, settings["depth"]), texts)
    empty = [query for query in queries if not found[query]]
    if empty:
        print(f"{len(empty)} queries find nothing: {', '.join(empty[:10])}{' …' * (len(empty) > 10)}", file=sys.stderr)
    write_run(options.run, found, settings["tag"])
    write_timing(
        options.timing,
        **used,
        **kept,
        analyzer=settings["analyzer"],
        fields=settings["fields"],
        depth=settings["depth"],
        queries=len(queries),
        queries_without_results=len(empty),
        seconds=seconds,
        queries_per_second=len(queries) / seconds,
        latency_ms=latency(singles),
        batch_size=len(queries),
        precision="fp32",
    )


if __name__ == "__main__":
    run(told(main))
