"""Search an index with BM25 or query likelihood, optionally with feedback; their parameters are tuned on dev.

A search reads an index (a folder, or the record of one on an Elasticsearch server), queries and (optionally) the
parameters that tuning chose; it writes a TREC run of the `depth` best documents per query, without those that are
excluded for it, and its timing with the parameters used. A query without terms after analysis (only stop words) finds
nothing: it has no line in the run and is reported.

Tuning searches the dev queries with every pair of the settings' `k1` and `b` (or every `mu`); it writes a table (TSV:
k1, b, the mean measure) and what was chosen (JSON: k1, b, measure, value, queries). The best mean wins, of equal ones
that with the smallest k1, then the smallest b. With `feedback`, the winner is searched again with every combination of
its parameters: columns of the table, which are empty if there was no feedback. Of these the best mean wins, of equal
ones that with the smallest parameters in the order of the columns.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from ranktrial.bm25.lucene import FieldSearcher, Searcher, open_index, score_by, with_java_errors
from ranktrial.bm25.searching import adds_terms, feed_back, search_all
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.processes import threads
from ranktrial.common.progress import track
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir import choosing
from ranktrial.ir.collection import NOTHING, Excluded, read_excluded, read_queries
from ranktrial.ir.trec import Qrels, read_qrels, write_run

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


@dataclass(frozen=True)
class Tuning:
    measure: Annotated[str, "the measure whose mean decides"]
    depth: Annotated[int, "documents per query that the measure looks at, or that Rocchio sees"]
    k1: Annotated[list[float], "the values of k1 tried"] = field(default_factory=list)
    b: Annotated[list[float], "the values of b tried"] = field(default_factory=list)
    mu: Annotated[list[float], "the values of query likelihood's mu tried, in place of k1 and b"] = field(
        default_factory=list
    )
    feedback: Annotated[dict[str, dict[str, list[float]]], "rm3 or rocchio, with the values of its parameters"] = field(
        default_factory=dict
    )
    analyzer: Annotated[str, "the index's analyser: english, standard or the code of a language"] = "english"
    fields: Annotated[Literal["together", "best"], "the index's fields: title and text as one, or apart"] = "together"

    @property
    def grid(self) -> dict[str, list[float]]:
        """The values of the parameters by which documents are scored. Raises UserError without any."""
        for grid in ({"k1": self.k1, "b": self.b}, {"mu": self.mu}):
            if all(grid.values()):
                return grid
        raise UserError("--settings: values of k1 and b (or mu) to try are missing")


class Trial(NamedTuple):
    """Parameters, including those of feedback if there was any, and the mean of the measure with them."""

    parameters: dict[str, float]
    value: float
    feedback: Mapping[str, float] = MappingProxyType({})


def best(trials: list[Trial]) -> Trial:
    """The best trial of those with feedback, or of all if none had any; trials are in ascending order."""
    return choosing.best([trial for trial in trials if trial.feedback] or trials, lambda trial: trial.value)


def combinations(grid: dict[str, list[float]]) -> list[dict[str, float]]:
    """Every combination of the values, in ascending order."""
    return [dict(zip(grid, values, strict=True)) for values in sorted(set(itertools.product(*grid.values())))]


def try_all(
    searcher: Searcher | FieldSearcher,
    queries: dict[str, str],
    qrels: Qrels,
    settings: Tuning,
    excluded: Excluded = NOTHING,
) -> list[Trial]:
    """The mean measure over the judged queries for every combination, then for the best one with feedback.

    Documents `excluded` for a query are left out.
    """

    def value() -> float:
        return choosing.mean(search_all(searcher, queries, settings.depth, excluded), qrels, settings.measure)

    trials = []
    scorings = combinations(settings.grid)
    for parameters in track(scorings, "tuned", len(scorings), "combination"):
        score_by(searcher, parameters)
        trials.append(Trial(parameters, value()))
    chosen = best(trials).parameters
    score_by(searcher, chosen)
    for method, grid in settings.feedback.items():
        ways = combinations({name: grid[name] for name in sorted(grid)})
        for parameters in track(ways, f"tuned with {method}", len(ways), "combination"):
            feed_back(searcher, {method: parameters})
            trials.append(Trial(chosen, value(), parameters))
    return trials


def write_choice(table: Path, parameters: Path, trials: list[Trial], settings: Tuning, queries: int) -> Trial:
    """Write the table of all trials and the file of the chosen one; return the latter."""
    chosen = best(trials)
    choosing.write_rows(
        table,
        [*chosen.parameters, *chosen.feedback, settings.measure],
        (
            [*one.parameters.values(), *(one.feedback.get(name) for name in chosen.feedback), one.value]
            for one in trials
        ),
    )
    about = {"measure": settings.measure, "value": chosen.value, "queries": queries}
    feedback = {"feedback": {method: dict(chosen.feedback) for method in settings.feedback}}
    kept = {**chosen.parameters, **(feedback if settings.feedback else {}), **about}
    write_json(parameters, kept, indent=2, sort_keys=True)
    return chosen


@with_java_errors
def tune(
    index: Path, queries: Path, qrels: Path, parameters: Path, grid: Path, settings: Tuning
) -> None:  # fmt: skip
    """Choose the parameters of BM25 or query likelihood on a dev split, and then those of feedback."""
    grades, text_of = read_qrels(qrels), read_queries(queries)
    none = choosing.NO_DEV.format(qrels, "fixed parameters (k1, b)")
    judgements = choosing.judged({query: grades[query] for query in text_of if query in grades}, none)
    texts = {query: text_of[query] for query in judgements}
    searcher = open_index(index, analyzer=settings.analyzer, fields=settings.fields)
    trials = try_all(searcher, texts, judgements, settings, read_excluded(queries))
    chosen = write_choice(grid, parameters, trials, settings, len(texts))
    words = " ".join(f"{name}={value}" for name, value in {**chosen.parameters, **chosen.feedback}.items())
    message = f"{words}: {settings.measure} {chosen.value:.4f} on {len(texts)} dev queries"
    choosing.report(message, parameters.name, len(texts))


if __name__ == "__main__":
    job(search, tune)
