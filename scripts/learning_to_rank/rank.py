"""Rank the candidates of a task's queries with a learnt model.

Reads the task's feature file, the term counts from which it was computed, a model and its record. Writes a TREC run and
its timing, which covers ranking only, not the features and their inputs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir.trec import Run, write_run
from ranktrial.learning_to_rank.files import check_features, check_indices, read_lists, read_model, read_record, run_of
from ranktrial.learning_to_rank.learners import Lists, Model


def rank(model: Model, lists: Lists, depth: int) -> Run:
    """The candidates of each query by descending score."""
    return run_of(lists, model.scores(lists.values), depth)


def single(lists: Lists, place: int) -> Lists:
    """One query's list."""
    end, size = lists.ends[place], lists.sizes[place]
    rows = slice(end - size, end)
    return Lists(
        lists.features, [lists.queries[place]], lists.sizes[place : place + 1], lists.documents[rows],
        lists.grades[rows], lists.values[rows],
    )  # fmt: skip


def rank_by_features(
    features: Path, terms: list[Path], model: Path, record: Path, run: Path, timing: Path,
    depth: Annotated[int, "documents per query that are kept"],
    tag: Annotated[str, "the run's name, its last column"],
) -> None:  # fmt: skip
    """Rank the candidates of a task's queries with a learnt model."""
    stored = read_record(record)
    check_features(features, stored.features_behind, str(record))
    check_indices([features], terms)
    lists = read_lists([features], only=stored.features)
    ranker = read_model(model, stored)
    start = clock()
    ranked = rank(ranker, lists, depth)
    seconds = clock() - start
    alone = [single(lists, place) for place in range(len(lists.queries))]
    singles = single_seconds(lambda one: rank(ranker, one, depth), alone)
    write_run(run, ranked, tag)
    write_timing(
        timing, learner=stored.learner, depth=depth, queries=len(ranked),
        pairs=len(lists.documents), seconds=seconds, queries_per_second=len(ranked) / seconds,
        latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


if __name__ == "__main__":
    job(rank_by_features)
