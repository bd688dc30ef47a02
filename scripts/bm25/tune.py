"""Tune the parameters of BM25 or query likelihood, and those of feedback, on a dev split.

Searches the dev queries with every pair of the settings' `k1` and `b` (or every `mu`). Writes a table (TSV: k1, b, the
mean measure) and what was chosen (JSON: k1, b, measure, value, queries). The best mean wins, of equal ones that with
the smallest k1, then the smallest b. With `feedback`, the winner is searched again with every combination of its
parameters: columns of the table, which are empty if there was no feedback. Of these the best mean wins, of equal ones
that with the smallest parameters in the order of the columns.

A file of its own: training depends on searches, and not on measures.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

from ranktrial.bm25.lucene import FieldSearcher, Searcher, open_index, score_by, with_java_errors
from ranktrial.bm25.searching import feed_back, search_all
from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_json
from ranktrial.common.progress import track
from ranktrial.ir import choosing
from ranktrial.ir.collection import NOTHING, Excluded, read_excluded, read_queries
from ranktrial.ir.trec import Qrels, read_qrels


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
    job(tune)
