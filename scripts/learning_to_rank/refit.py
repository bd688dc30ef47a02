"""Refit the ranker that was selected on dev, on the training and dev queries together.

Reads the record and the timing of the selected ranker, the feature files of the train and dev splits (one of each per
dataset, in the same order) and the term counts from which each file was computed. The parameters are the selected ones,
and a boosted ensemble has as many trees as early stopping kept. Writes the model, its record (JSON, with the dev value
of the selected ranker, since this one has learnt from the dev queries) and the time, which includes that of the
selection.
"""

from __future__ import annotations

import importlib.metadata
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text
from ranktrial.common.settings import write_record
from ranktrial.common.strict_json import read_json
from ranktrial.common.timing import clock, machine, write_timing
from ranktrial.learning_to_rank.files import (
    RankerRecord,
    check_features,
    check_indices,
    hash_of,
    read_lists,
    read_record,
)
from ranktrial.learning_to_rank.learners import Lists, Model, learner


def together(train: Lists, dev: Lists) -> Lists:
    """The lists of both splits, with train first."""
    return Lists(
        train.features,
        train.queries + dev.queries,
        np.concatenate([train.sizes, dev.sizes]),
        train.documents + dev.documents,
        np.concatenate([train.grades, dev.grades]),
        np.concatenate([train.values, dev.values]),
    )


def refit(chosen: RankerRecord, lists: Lists, depth: int) -> Model:
    """Learn from all lists with the selected parameters, without early stopping."""
    parameters = dict(chosen.parameters)
    if chosen.trees_kept is not None:
        parameters["trees"] = chosen.trees_kept
    return learner(chosen.learner).fit(lists, None, parameters, depth, chosen.seed)


def record_of(chosen: RankerRecord, lists: Lists, model: Model) -> RankerRecord:
    """The record of the selected ranker, updated for this model."""
    return replace(
        chosen,
        trees_kept=model.rounds,
        train_queries=len(lists.queries),
        train_candidates=len(lists.documents),
        model_sha256=hash_of(model.text()),
    )


def seconds_of_choice(path: Path) -> float:
    """The duration of the grid search, which the refit completes. Raises UserError for any other file."""
    seconds = read_json(path).get("seconds")
    if not isinstance(seconds, int | float):
        raise UserError(f"{path}: has no seconds; train the ranker again")
    return float(seconds)


def refit_ranker(
    train: list[Path], dev: list[Path], terms: list[Path], chosen: Path, chosen_timing: Path,
    model: Path, record: Path, timing: Path,
    depth: Annotated[int, "the cut-off of nDCG"],
) -> None:  # fmt: skip
    """Refit the ranker that was selected on dev, on the training and dev queries together."""
    selected = read_record(chosen)
    if not train or len(train) != len(dev):
        raise UserError("--train, --dev: expected one file of each per dataset")
    for paths in (train, dev):
        check_indices(paths, terms)
        check_features(paths[0], selected.features_behind, str(chosen))
    before = seconds_of_choice(chosen_timing)
    several = len(train) > 1
    learnt, held = (read_lists(paths, several, selected.features) for paths in (train, dev))
    lists = together(learnt, held)
    start = clock()
    refitted = refit(selected, lists, depth)
    seconds = clock() - start
    write_record(record, record_of(selected, lists, refitted))
    write_text(model, refitted.text())
    library = learner(selected.learner).LIBRARY
    write_timing(
        timing, seconds=before + seconds, refit_seconds=seconds,
        combinations=selected.combinations, queries=len(lists.queries), pairs=len(lists.documents),
        features=len(lists.features), threads=1, learner=selected.learner,
        versions=machine()["versions"] | {library: importlib.metadata.version(library)},
    )  # fmt: skip
    print(f"learnt again from {len(lists.queries)} queries of train and dev, {seconds:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    job(refit_ranker)
