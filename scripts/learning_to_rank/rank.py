"""Rank the candidates of a task's queries by a learnt model.

Reads the task's feature file, the term counts from which it was computed, a model and its record. Writes a TREC run and
its timing: of ranking alone, not of the features and of what they are computed from.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from scripts.common.command_line import parser, run
from scripts.common.errors import UserError
from scripts.common.timing import clock, latency, single_seconds, write_timing
from scripts.ir.trec import Run, write_run
from scripts.learning_to_rank.learners import Lists, Model, learner
from scripts.learning_to_rank.lists import check_features, check_indices, features_behind, read_lists, run_of


@dataclass(frozen=True)
class Settings:
    depth: Annotated[int, "documents a query that are kept"]
    tag: Annotated[str, "the run's name, its last column"]


def read_record(path: Path) -> dict[str, Any]:
    """The record beside a model. Raises UserError for another file."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record | {"learner": str(record["learner"]), "features": list(record["features"])}
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: is no record of a ranker, or a damaged one") from None


def read_model(path: Path, record: dict[str, Any]) -> Model:
    """The model that a record is of. Raises UserError for another file."""
    try:
        return learner(record["learner"]).read(path.read_text(encoding="utf-8"))
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


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
    options = parser(
        __doc__, "features", "terms*", "model", "record", "run", "timing", settings=Settings
    ).parse_args()  # fmt: skip
    settings, record = options.settings, read_record(options.record)
    check_features(options.features, features_behind(record), str(options.record))
    check_indices([options.features], options.terms)
    lists = read_lists([options.features], only=record["features"])
    model = read_model(options.model, record)
    start = clock()
    ranked = rank(model, lists, settings.depth)
    seconds = clock() - start
    alone = [single(lists, place) for place in range(min(100, len(lists.queries)))]
    singles = single_seconds(lambda one: rank(model, one, settings.depth), alone)
    write_run(options.run, ranked, settings.tag)
    write_timing(
        options.timing, learner=record["learner"], depth=settings.depth, queries=len(ranked),
        pairs=len(lists.documents), seconds=seconds, queries_per_second=len(ranked) / seconds,
        latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


if __name__ == "__main__":
    run(main)
