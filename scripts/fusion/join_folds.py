"""Join the runs of re-rankers that were each trained without one fold of the training queries.

Reads a run of each on one task, in the order of the folds. Writes a TREC run of the `depth` best documents per query,
and its timing (of joining alone). The documents of a training query have the scores of the re-ranker that was
trained without its fold; those of other queries have the mean of all re-rankers' scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir.folds import fold_of
from ranktrial.ir.trec import Run, read_run, top, write_run


@dataclass(frozen=True)
class Settings:
    seed: Annotated[int, "of the folds"]
    are_training_queries: Annotated[bool, "whether the re-rankers were trained on queries of this task"]
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]


def scores_of(query: str, runs: list[Run], settings: Settings) -> dict[str, float]:
    """The scores of one query's documents."""
    if settings.are_training_queries:
        return runs[fold_of(query, len(runs), settings.seed) - 1][query]
    return {document: fmean(one[query][document] for one in runs) for document in runs[0][query]}


def joined(runs: list[Run], settings: Settings) -> Run:
    """The run of all queries, the best documents first in trec_eval's order."""
    return {query: top(scores_of(query, runs, settings), settings.depth) for query in runs[0]}


def check_same(paths: list[Path], runs: list[Run]) -> None:
    """Raise UserError unless all runs hold the same documents of the same queries."""
    held = [{query: scores.keys() for query, scores in one.items()} for one in runs]
    for path, others in zip(paths[1:], held[1:], strict=True):
        if others != held[0]:
            raise UserError(
                f"{path}: contains other queries or documents than {paths[0]}; expected runs of the same ones"
            )


def main() -> None:
    options = parser(__doc__, "runs*", "run", "timing", settings=Settings).parse_args()
    settings, runs = options.settings, [read_run(path) for path in options.runs]
    if len(runs) < 2:
        raise UserError("--runs: expected one run of each fold, two at least")
    check_same(options.runs, runs)
    start = clock()
    ranked = joined(runs, settings)
    seconds = clock() - start
    singles = single_seconds(lambda query: joined([{query: one[query]} for one in runs], settings), list(ranked))
    write_run(options.run, ranked, settings.tag)
    write_timing(
        options.timing, folds=len(runs), depth=settings.depth, queries=len(ranked), seconds=seconds,
        queries_per_second=len(ranked) / seconds, latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
