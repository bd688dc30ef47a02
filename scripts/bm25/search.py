"""Search an index with BM25.

Reads an index (a folder, or the record of one on an Elasticsearch server), queries and (optionally) the parameters that
tuning chose; writes a TREC run of the `depth` best documents per query, and its timing with the k1 and b used. A query
of which analysis leaves no term (stop words alone) finds nothing: it has no line in the run and is reported.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from scripts.bm25.fields import FieldSearcher, open_index
from scripts.bm25.lucene import Searcher, threads, told
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.ir.collection import read_queries
from scripts.ir.trec import write_run

NAMED = 10  # queries without results in the line that tells of them


@dataclass(frozen=True)
class Settings:
    depth: Annotated[int, "documents a query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]
    analyzer: Annotated[Literal["english", "standard"], "the index's analyser"] = "english"
    fields: Annotated[Literal["together", "best"], "the index's fields: title and text as one, or apart"] = "together"
    k1: Annotated[float | None, "BM25's k1; null where a file has the tuned one"] = None
    b: Annotated[float | None, "BM25's b; null where a file has the tuned one"] = None


def parameters(settings: Settings, files: list[Path]) -> dict[str, float]:
    """k1 and b: from the tuned parameters' file if one is given, else from the settings. Raises UserError without."""
    source = json.loads(files[0].read_text()) if files else {"k1": settings.k1, "b": settings.b}
    if source["k1"] is None or source["b"] is None:
        raise UserError("--settings: k1 and b are missing, and no file of tuned --parameters is given")
    return {"k1": float(source["k1"]), "b": float(source["b"])}


def open_any(index: Path, settings: Settings, used: dict[str, float]) -> tuple[Searcher | FieldSearcher, dict]:
    """The searcher of an index here or of a record's, and what the timing records of it."""
    if index.is_dir() or index.suffix != ".json":
        searcher = open_index(index, **used, analyzer=settings.analyzer, fields=settings.fields)
        return searcher, {"threads": threads()}
    from scripts.bm25.server import Server, ServerSearcher

    record = json.loads(index.read_text())
    return ServerSearcher(Server(record["url"]), record["index"], settings.fields), {"elasticsearch": record}


def main() -> None:
    options = parser(__doc__, "index", "queries", "run", "timing", "parameters*", settings=Settings).parse_args()
    settings = options.settings
    queries = read_queries(options.queries)
    if not queries:
        raise UserError(f"{options.queries}: no query to search for; the dataset lacks this split")
    used = parameters(settings, options.parameters)
    searcher, facts = open_any(options.index, settings, used)
    texts = list(queries.values())
    searcher.search(texts[0], settings.depth)  # the warm-up
    start = clock()
    ranked = searcher.batch(queries, settings.depth)
    seconds = clock() - start
    singles = single_seconds(lambda text: searcher.search(text, settings.depth), texts)
    empty = [query for query in queries if not ranked[query]]
    if empty:
        more = " …" if len(empty) > NAMED else ""
        print(f"{len(empty)} queries find nothing: {', '.join(empty[:NAMED])}{more}", file=sys.stderr)
    write_run(options.run, ranked, settings.tag)
    write_timing(
        options.timing,
        **used,
        **facts,
        analyzer=settings.analyzer,
        fields=settings.fields,
        depth=settings.depth,
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
