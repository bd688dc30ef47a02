"""Learn a ranker from the features of training queries, and select its parameters on dev.

Reads the feature files of the train and dev splits, one of each per dataset, in the same order, the dev judgements, and
the term counts from which each file was computed (grouped by dataset). Every combination of parameter values is learnt;
the one with the highest mean measure on dev is kept, the first in a tie. Writes the model (in the library's own
format), its record (JSON: features, parameters, value), the table of all combinations (TSV) and the time.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text, write_text
from ranktrial.common.progress import track
from ranktrial.common.settings import write_record
from ranktrial.common.timing import clock, machine, write_timing
from ranktrial.ir.feature_file import feature_names
from ranktrial.ir.trec import Qrels
from ranktrial.learning_to_rank.files import (
    RankerRecord,
    check_indices,
    hash_of,
    mean_measure,
    read_judgements,
    read_lists,
)
from ranktrial.learning_to_rank.learners import Learner, Lists, Model, Parameters, Value, learner

LEAST_QUERIES = 2


@dataclass(frozen=True)
class Settings:
    learner: Annotated[str, "which learner it is"]
    parameters: Annotated[dict[str, list[Value]], "the values of each parameter that are tried"]
    measure: Annotated[str, "the measure whose mean on dev decides"]
    depth: Annotated[int, "documents per query that the measure looks at, and the cut-off of nDCG in early stopping"]
    seed: Annotated[int, "of what the learner draws"]
    columns: Annotated[list[str] | None, "the features that are read; all by default"] = None


class Trial(NamedTuple):
    """A combination of parameters, the model learnt with it, and its mean measure on dev."""

    parameters: Parameters
    model: Model
    value: float


def check_lists(train: Lists, dev: Lists, train_path: Path, dev_path: Path) -> None:
    """Raise UserError if there is nothing to learn from, or nothing to select by."""
    if len(train.queries) < LEAST_QUERIES:
        raise UserError(
            f"{train_path}: has candidates of {len(train.queries)} training query; expected at least {LEAST_QUERIES}"
        )
    for lists, path, what in ((train, train_path, "learn"), (dev, dev_path, "stop or choose by")):
        if (lists.grades == lists.grades[0]).all():
            found = f"all {len(lists.grades)} candidates have grade {lists.grades[0]} (not judged counts as 0)"
            raise UserError(f"{path}: {found}, so there is nothing to {what}")


def try_all(learning: Learner, train: Lists, dev: Lists, qrels: Qrels, settings: Settings) -> list[Trial]:
    """Learn with every combination of parameter values, in order."""
    names = list(settings.parameters)
    combinations = list(itertools.product(*settings.parameters.values()))
    trials = []
    for values in track(combinations, "learnt", len(combinations), "combination"):
        parameters = dict(zip(names, values, strict=True))
        model = learning.fit(train, dev, parameters, settings.depth, settings.seed)
        value = mean_measure(dev, model.scores(dev.values), qrels, settings.measure, settings.depth)
        trials.append(Trial(parameters, model, value))
    return trials


def best(trials: list[Trial]) -> Trial:
    """The trial with the highest value; the first in a tie."""
    return max(trials, key=lambda trial: trial.value)


def write_table(path: Path, trials: list[Trial], measure: str) -> None:
    """Write the table of all combinations; `trees` is a boosted ensemble's limit, `kept` what early stopping left."""
    with atomic_text(path) as file:
        file.write("\t".join([*trials[0].parameters, "kept", measure]) + "\n")
        for trial in trials:
            kept = "" if trial.model.rounds is None else trial.model.rounds
            values = ["" if value is None else value for value in trial.parameters.values()]
            file.write("\t".join(map(str, [*values, kept, repr(trial.value)])) + "\n")


def record_of(trials: list[Trial], train: Lists, names: list[str], queries: int, settings: Settings) -> RankerRecord:
    """The record written beside the model; `names` are all features of the file."""
    chosen = best(trials)
    return RankerRecord(
        learner=settings.learner,
        features=train.features,
        chosen_from=None if train.features == names else names,
        parameters=chosen.parameters,
        trees_kept=chosen.model.rounds,
        seed=settings.seed,
        measure=settings.measure,
        value=chosen.value,
        dev_queries=queries,
        train_queries=len(train.queries),
        train_candidates=len(train.documents),
        combinations=len(trials),
        model_sha256=hash_of(chosen.model.text()),
    )


def train_ranker(
    train: list[Path], dev: list[Path], qrels: list[Path], terms: list[Path],
    model: Path, record: Path, grid: Path, timing: Path, settings: Settings,
) -> None:  # fmt: skip
    """Learn a ranker from the features of training queries, and select its parameters on dev."""
    if not train or not len(train) == len(dev) == len(qrels):
        raise UserError("--train, --dev, --qrels: expected one file of each per dataset")
    for paths in (train, dev):
        check_indices(paths, terms)
    several = len(train) > 1
    names = feature_names(train[0])
    if feature_names(dev[0]) != names:
        raise UserError(f"{dev[0]}: has other features than {train[0]}")
    learnt, held = (read_lists(paths, several, settings.columns) for paths in (train, dev))
    check_lists(learnt, held, train[0], dev[0])
    judgements = read_judgements(qrels, several)
    learning = learner(settings.learner)
    start = clock()
    trials = try_all(learning, learnt, held, judgements, settings)
    seconds = clock() - start
    chosen = best(trials)
    write_table(grid, trials, settings.measure)
    write_record(record, record_of(trials, learnt, names, len(judgements), settings))
    write_text(model, chosen.model.text())
    write_timing(
        timing, seconds=seconds, combinations=len(trials), queries=len(learnt.queries),
        pairs=len(learnt.documents), features=len(learnt.features), threads=1, learner=settings.learner,
        versions=machine()["versions"] | {learning.LIBRARY: importlib.metadata.version(learning.LIBRARY)},
    )  # fmt: skip
    words = f"{len(trials)} combinations, {seconds:.1f} s" if len(trials) > 1 else f"{seconds:.1f} s"
    print(f"{settings.measure} {chosen.value:.4f} on {len(judgements)} dev queries ({words})", file=sys.stderr)


if __name__ == "__main__":
    job(train_ranker)
