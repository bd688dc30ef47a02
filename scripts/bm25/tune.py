"""Choose BM25's k1 and b on a dev split.

Reads an index, the dev queries and qrels; searches them with every pair of the settings' `k1` and `b`; writes a table
(TSV: k1, b, the mean measure) and the chosen pair (JSON: k1, b, measure, value, queries). The best mean wins, of equal
ones that with the smallest k1, then the smallest b.
"""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from scripts.bm25.fields import FieldSearcher, open_index
from scripts.bm25.lucene import Searcher, told
from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.files import atomic_text
from scripts.common.progress import track
from scripts.ir.collection import read_queries
from scripts.ir.measures import evaluate
from scripts.ir.trec import Qrels, read_qrels, relevant


@dataclass(frozen=True)
class Settings:
    k1: Annotated[list[float], "the values of k1 tried"]
    b: Annotated[list[float], "the values of b tried"]
    measure: Annotated[str, "the measure whose mean decides"]
    depth: Annotated[int, "documents a query that the measure looks at"]
    analyzer: Annotated[Literal["english", "standard"], "the index's analyser"] = "english"
    fields: Annotated[Literal["together", "best"], "the index's fields: title and text as one, or apart"] = "together"


class Trial(NamedTuple):
    """One pair of parameters and the mean of the measure that it reached."""

    k1: float
    b: float
    value: float


def judged(queries: dict[str, str], qrels: Qrels, name: str) -> dict[str, str]:
    """The queries with a relevant document in the qrels (`name` in messages). Raises UserError if none has one."""
    usable = {query: text for query, text in queries.items() if relevant(qrels, query)}
    if not usable:
        raise UserError(
            f"{name}: no judged dev query to tune on: give the dataset a dev split (splits: {{dev: 0.1}}), "
            "or the system fixed parameters (k1, b) instead of tune: true"
        )
    return usable


def best(trials: list[Trial]) -> Trial:
    """The trial with the highest value; of equal ones that with the smallest k1, then the smallest b."""
    return min(trials, key=lambda trial: (-trial.value, trial.k1, trial.b))


def try_all(
    searcher: Searcher | FieldSearcher, queries: dict[str, str], qrels: Qrels, settings: Settings
) -> list[Trial]:
    """The mean measure over the judged queries for every pair of k1 and b, in ascending order."""
    pairs = sorted(set(itertools.product(settings.k1, settings.b)))
    trials = []
    for k1, b in track(pairs, "tuned", len(pairs), "pair"):
        searcher.set_parameters(k1, b)
        values = evaluate(searcher.batch(queries, settings.depth), qrels, [settings.measure])
        trials.append(Trial(k1, b, float(values[settings.measure].mean())))
    return trials


def write(table: Path, parameters: Path, trials: list[Trial], measure: str, queries: int) -> None:
    """Write the table of all trials and the file of the chosen one."""
    with atomic_text(table) as file:
        file.write(f"k1\tb\t{measure}\n")
        file.writelines(f"{trial.k1}\t{trial.b}\t{trial.value!r}\n" for trial in trials)
    chosen = best(trials)
    with atomic_text(parameters) as file:
        json.dump(chosen._asdict() | {"measure": measure, "queries": queries}, file, indent=2, sort_keys=True)
        file.write("\n")


def main() -> None:
    options = parser(__doc__, "index", "queries", "qrels", "parameters", "table", settings=Settings).parse_args()
    settings = options.settings
    qrels = read_qrels(options.qrels)
    queries = judged(read_queries(options.queries), qrels, str(options.qrels))
    qrels = {query: qrels[query] for query in queries}
    searcher = open_index(options.index, settings.k1[0], settings.b[0], settings.analyzer, settings.fields)
    trials = try_all(searcher, queries, qrels, settings)
    write(options.table, options.parameters, trials, settings.measure, len(queries))
    chosen = best(trials)
    print(
        f"k1={chosen.k1} b={chosen.b}: {settings.measure} {chosen.value:.4f} on {len(queries)} dev queries",
        file=sys.stderr,
    )


if __name__ == "__main__":
    run(told(main))
