"""Collect all documents that a cross-encoder scores to filter negatives: candidates and positives of training queries.

Reads what mine.py reads, except scores. Writes a TREC run with each query's positives, then its candidates, interleaved
by source; the scores decrease by one and have no meaning. The pool does not depend on margins, so the same scores serve
for different margins.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.ir.trec import Run, write_run
from ranktrial.training import labelled
from ranktrial.training.mining import Candidate, candidates, runs_of

TAG = "candidates"


@dataclass(frozen=True, kw_only=True)
class Settings(labelled.Settings):
    from_: Annotated[list[str], "bm25 and systems, whose candidates are taken in turn"]


def pooled(positives: dict[str, list[str]], listed: dict[str, list[Candidate]]) -> Run:
    """The documents of each query, with scores that keep their order."""
    run = {}
    for query, documents in positives.items():
        names = [*documents, *(one.document for one in listed[query])]
        run[query] = {name: float(len(names) - place) for place, name in enumerate(names)}
    return run


def main() -> None:
    names = ("corpus", "queries", "qrels", "evaluation-qrels*", "first-stage*", "runs*", "pairs")
    options = parser(__doc__, *names, settings=Settings).parse_args()
    settings: Settings = options.settings
    read = labelled.read_collection(
        options.corpus, options.queries, options.qrels, options.evaluation_qrels, options.first_stage, settings
    )
    runs = runs_of(settings.from_, options.first_stage, options.runs)
    try:
        found = labelled.labelled(read, settings)
    except UserError as error:
        raise UserError(f"{options.queries}: {error}") from None
    pool = pooled(found.positives, candidates(read, found, runs, settings.range_min, settings.range_max))
    write_run(options.pairs, pool, TAG)
    print(f"{sum(map(len, pool.values()))} documents of {len(pool)} queries are to be scored", file=sys.stderr)


if __name__ == "__main__":
    run(main)
