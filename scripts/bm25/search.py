"""Search an index with BM25 or query likelihood, optionally with feedback.

Reads an index (a folder, or the record of one on an Elasticsearch server), queries and (optionally) the parameters that
tuning chose. Writes a TREC run of the `depth` best documents per query, without those that are
excluded for it, and its timing with the parameters used. A query without terms after analysis (only stop words) finds
nothing: it has no line in the run and is reported.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from ranktrial.bm25.lucene import FieldSearcher, Searcher, open_index, score_by, with_java_errors
from ranktrial.bm25.searching import adds_terms, feed_back, search_all
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.processes import threads
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir.collection import read_excluded, read_queries
from ranktrial.ir.trec import write_run

NAMED = 10  # queries without results in the message about them


@dataclass(frozen=True)
class Searching:
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]
    analyzer: Annotated[str, "the index's analyser: english, standard or the code of a language"] = "english"
    fields: Annotated[Literal["together", "best"], "the index's fields: title and text as one, or apart"] = "together"
    k1: Annotated[float | None, "BM25's k1; null where a file has the tuned one"] = None
    b: Annotated[float | None, "BM25's b; null where a file has the tuned one"] = None
    mu: Annotated[float | None, "query likelihood's mu, in place of k1 and b; or null"] = None
    feedback: Annotated[dict[str, dict[str, float]], "rm3 or rocchio, with its parameters"] = field(
        default_factory=dict
    )


class Scoring(NamedTuple):
    """The scoring of documents: k1 and b, or mu; and optionally a method of feedback with its parameters."""

    parameters: dict[str, float]
    feedback: dict[str, dict[str, float]]


def scoring(settings: Searching, files: list[Path]) -> Scoring:
    """The scoring from the file of tuned parameters, if given, else from the settings. Raises UserError without any."""
    source = json.loads(files[0].read_text()) if files else asdict(settings)
    for names in (("k1", "b"), ("mu",)):
        if all(source.get(name) is not None for name in names):
            return Scoring({name: float(source[name]) for name in names}, source.get("feedback", {}))
    raise UserError("--settings: k1 and b (or mu) are missing, and no file of tuned --parameters is given")


def open_any(index: Path, settings: Searching, used: Scoring) -> tuple[Searcher | FieldSearcher, dict]:
    """The searcher of a local index or of a record's index, and its entries in the timing."""
    if index.is_dir() or index.suffix != ".json":
        searcher = open_index(index, analyzer=settings.analyzer, fields=settings.fields)
        score_by(searcher, used.parameters)
        feed_back(searcher, used.feedback)
        return searcher, {"threads": threads()}
    from ranktrial.bm25.server import Server, ServerSearcher

    record = json.loads(index.read_text())
    return ServerSearcher(Server(record["url"]), record["index"], settings.fields), {"elasticsearch": record}


def feedback_record(searcher: Searcher | FieldSearcher, used: Scoring, texts: list[str]) -> dict[str, Any]:
    """The entries of feedback in the timing, and a warning if it changes no query; empty without feedback."""
    if not used.feedback:
        return {}
    adds = isinstance(searcher, Searcher) and adds_terms(searcher, texts)
    if not adds:
        what = f"feedback {next(iter(used.feedback))} adds no term to any of {len(texts)} queries"
        print(f"warning: {what}: terms that more than a tenth of all documents have never join", file=sys.stderr)
    return {"feedback": used.feedback, "feedback_adds_terms": adds}


def index_size(index: Path) -> dict[str, int]:
    """The bytes of an index on this machine; nothing for one on a server."""
    return {"index_bytes": sum(file.stat().st_size for file in index.iterdir())} if index.is_dir() else {}


@with_java_errors
def search(
    index: Path, queries: Path, run: Path, timing: Path, parameters: list[Path], settings: Searching
) -> None:  # fmt: skip
    """Search an index with BM25 or query likelihood, optionally with feedback."""
    text_of, excluded = read_queries(queries), read_excluded(queries)
    if not text_of:
        raise UserError(f"{queries}: no query to search for; the dataset lacks this split")
    used = scoring(settings, parameters)
    searcher, facts = open_any(index, settings, used)
    texts = list(text_of.values())
    searcher.search(texts[0], settings.depth)  # the warm-up
    start = clock()
    ranked = search_all(searcher, text_of, settings.depth, excluded)
    seconds = clock() - start
    singles = single_seconds(lambda text: searcher.search(text, settings.depth), texts)
    empty = [query for query in text_of if not ranked[query]]
    if empty:
        more = " …" if len(empty) > NAMED else ""
        print(f"{len(empty)} queries find nothing: {', '.join(empty[:NAMED])}{more}", file=sys.stderr)
    write_run(run, ranked, settings.tag)
    write_timing(
        timing,
        **used.parameters,
        **feedback_record(searcher, used, texts),
        **facts,
        analyzer=settings.analyzer,
        fields=settings.fields,
        depth=settings.depth,
        queries=len(text_of),
        queries_without_results=len(empty),
        seconds=seconds,
        queries_per_second=len(text_of) / seconds,
        latency_ms=latency(singles),
        **index_size(index),
        batch_size=len(text_of),
        precision="fp32",
    )


if __name__ == "__main__":
    job(search)
