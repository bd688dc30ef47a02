"""Rank the candidates of a task's queries with a learnt model.

Reads the task's feature file, the term counts from which it was computed, a model and its record. Writes a TREC run and
its timing, which covers ranking only, not the features and their inputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.command_line import parser, run
from ranktrial.common.timing import clock, latency, single_seconds, write_timing
from ranktrial.ir.trec import Run, write_run
from ranktrial.learning_to_rank.kept import read_model, read_record
from ranktrial.learning_to_rank.learners import Lists, Model
from ranktrial.learning_to_rank.lists import check_features, check_indices, read_lists, run_of


@dataclass(frozen=True)
class Settings:
    depth: Annotated[int, "documents per query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]


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


def main() -> None:
    options = parser(__doc__, "features", "terms*", "model", "record", "run", "timing", settings=Settings).parse_args()
    settings, record = options.settings, read_record(options.record)
    check_features(options.features, record.features_behind, str(options.record))
    check_indices([options.features], options.terms)
    lists = read_lists([options.features], only=record.features)
    model = read_model(options.model, record)
    start = clock()
    ranked = rank(model, lists, settings.depth)
    seconds = clock() - start
    alone = [single(lists, place) for place in range(len(lists.queries))]
    singles = single_seconds(lambda one: rank(model, one, settings.depth), alone)
    write_run(options.run, ranked, settings.tag)
    write_timing(
        options.timing, learner=record.learner, depth=settings.depth, queries=len(ranked),
        pairs=len(lists.documents), seconds=seconds, queries_per_second=len(ranked) / seconds,
        latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
