"""Collect all documents that a cross-encoder scores to filter negatives: candidates and positives of training queries.

Reads what mine.py reads, except scores. Writes a TREC run with each query's positives, then its candidates, interleaved
by source; the scores decrease by one and have no meaning. The pool does not depend on margins, so the same scores serve
for different margins.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
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


def collect_pairs(
    corpus: Path, queries: Path, qrels: Path, evaluation_qrels: list[Path], first_stage: list[Path], runs: list[Path],
    pairs: Path, settings: Settings,
) -> None:  # fmt: skip
    """Collect all documents that a cross-encoder scores to filter negatives."""
    read = labelled.read_collection(corpus, queries, qrels, evaluation_qrels, first_stage, settings)
    mined = runs_of(settings.from_, first_stage, runs)
    try:
        found = labelled.labelled(read, settings)
    except UserError as error:
        raise UserError(f"{queries}: {error}") from None
    pool = pooled(found.positives, candidates(read, found, mined, settings.range_min, settings.range_max))
    write_run(pairs, pool, TAG)
    print(f"{sum(map(len, pool.values()))} documents of {len(pool)} queries are to be scored", file=sys.stderr)


if __name__ == "__main__":
    job(collect_pairs)
