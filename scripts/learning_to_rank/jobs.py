"""Learning to rank: a ranker is trained, refitted, applied, and asked which features matter to it.

Reads feature files of the train and dev splits (one of each per dataset, in the same order), the term counts from which
each was computed (grouped by dataset), dev judgements, and the model with its record. Every combination of parameters
is learnt; the one with the best mean on dev is kept; with folds, one per fold. Writes the model (in the library's own
format, a JSON list of them with folds), its record (JSON), the table of all combinations (TSV), a TREC run and timings,
which cover learning or ranking only, not the features.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from ranktrial.common.command_line import job
from ranktrial.common.errors import UserError
from ranktrial.common.files import write_text
from ranktrial.common.progress import track
from ranktrial.common.settings import write_record
from ranktrial.common.strict_json import read_json
from ranktrial.common.timing import clock, latency, machine, single_seconds, write_timing
from ranktrial.ir import choosing
from ranktrial.ir.feature_file import feature_names
from ranktrial.ir.query_samples import equal_folds
from ranktrial.ir.trec import Qrels, Run, write_run
from ranktrial.learning_to_rank.files import (
    Choice,
    RankerRecord,
    check_features,
    check_indices,
    hash_of,
    mean_measure,
    part,
    read_judgements,
    read_lists,
    read_models,
    read_record,
    run_of,
    text_of,
)
from ranktrial.learning_to_rank.learners import Learner, Lists, Model, Parameters, Value, learner

LEAST_QUERIES = 2


@dataclass(frozen=True)
class Training:
    learner: Annotated[str, "which learner it is"]
    parameters: Annotated[dict[str, list[Value]], "the values of each parameter that are tried"]
    measure: Annotated[str, "the measure whose mean on dev decides"]
    depth: Annotated[int, "documents per query that the measure looks at, and the cut-off of nDCG in early stopping"]
    seed: Annotated[int, "of what the learner draws"]
    columns: Annotated[list[str] | None, "the features that are read; all by default"] = None
    folds: Annotated[int | None, "one model per fold of the training queries, without it; dev is the next fold"] = None
    fold_seed: Annotated[int | None, "of the folds"] = None


class Division(NamedTuple):
    """The lists from which a model is learnt, and lists and judgements by which it is selected."""

    train: Lists
    dev: Lists
    qrels: Qrels


class Trial(NamedTuple):
    """A combination of parameters, the model learnt with it, and its mean measure on dev."""

    parameters: Parameters
    model: Model
    value: float


def check_lists(division: Division, train_path: Path, dev_path: Path) -> None:
    """Raise UserError if there is nothing to learn from, or nothing to select by."""
    train, dev, _ = division
    if len(train.queries) < LEAST_QUERIES:
        raise UserError(
            f"{train_path}: has candidates of {len(train.queries)} training query; expected at least {LEAST_QUERIES}"
        )
    for lists, path, what in ((train, train_path, "learn"), (dev, dev_path, "stop or choose by")):
        if (lists.grades == lists.grades[0]).all():
            found = f"all {len(lists.grades)} candidates have grade {lists.grades[0]} (not judged counts as 0)"
            raise UserError(f"{path}: {found}, so there is nothing to {what}")


def divisions(whole: Division, folds: Mapping[str, int] | None, several: bool) -> list[Division]:
    """One division, or one per fold: dev is the next fold, and all others are learnt from."""
    if folds is None:
        return [whole]
    number = max(folds.values())

    def fold(query: str) -> int | None:
        return folds.get(query.partition(":")[2] if several else query)

    def of(lists: Lists, chosen: set[int]) -> Lists:
        return part(lists, [place for place, query in enumerate(lists.queries) if fold(query) in chosen])

    divided = []
    for left_out in range(1, number + 1):
        dev = left_out % number + 1
        qrels = {query: grades for query, grades in whole.qrels.items() if fold(query) == dev}
        learnt = of(whole.train, set(range(1, number + 1)) - {left_out, dev})
        divided.append(Division(learnt, of(whole.dev, {dev}), qrels))
    return divided


def folds_of(lists: Lists, settings: Training, path: Path, several: bool) -> dict[str, int] | None:
    """The fold of each query, None without folds. Equal ids of several datasets, as of one topic, share a fold."""
    if settings.folds is None or settings.fold_seed is None:
        return None
    names = {query.partition(":")[2] if several else query for query in lists.queries}
    if len(names) < settings.folds:
        raise UserError(f"{path}: has candidates of {len(names)} queries, fewer than the {settings.folds} folds")
    return equal_folds(names, settings.folds, settings.fold_seed)


def try_all(learning: Learner, division: Division, settings: Training) -> list[Trial]:
    """Learn with every combination of parameter values, in order."""
    train, dev, qrels = division
    names = list(settings.parameters)
    combinations = list(itertools.product(*settings.parameters.values()))
    trials = []
    for values in track(combinations, "learnt", len(combinations), "combination"):
        parameters = dict(zip(names, values, strict=True))
        model = learning.fit(train, dev, parameters, settings.depth, settings.seed)
        value = mean_measure(dev, model.scores(dev.values), qrels, settings.measure, settings.depth)
        trials.append(Trial(parameters, model, value))
    return trials


def choice_of(chosen: Trial, division: Division) -> Choice:
    """How a model was selected."""
    return Choice(
        parameters=chosen.parameters,
        trees_kept=chosen.model.rounds,
        value=chosen.value,
        dev_queries=len(division.qrels),
        train_queries=len(division.train.queries),
        train_candidates=len(division.train.documents),
    )


def train_ranker(
    train: list[Path], dev: list[Path], qrels: list[Path], terms: list[Path],
    model: Path, record: Path, grid: Path, timing: Path, settings: Training,
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
    learnt = read_lists(train, several, settings.columns)
    held = learnt if dev == train else read_lists(dev, several, settings.columns)
    folds = folds_of(learnt, settings, train[0], several)
    divided = divisions(Division(learnt, held, read_judgements(qrels, several)), folds, several)
    for division in divided:
        check_lists(division, train[0], dev[0])
    learning = learner(settings.learner)
    start = clock()
    trials = [try_all(learning, division, settings) for division in divided]
    seconds = clock() - start
    chosen = [choosing.best(of_fold, lambda trial: trial.value) for of_fold in trials]
    choices = [choice_of(best, division) for best, division in zip(chosen, divided, strict=True)]
    # `trees` is a boosted ensemble's limit, `kept` what early stopping left
    rows = (
        [*([fold] if settings.folds else []), *trial.parameters.values(), trial.model.rounds, trial.value]
        for fold, of_fold in enumerate(trials, 1)
        for trial in of_fold
    )
    numbered = ["fold"] if settings.folds else []
    choosing.write_rows(grid, [*numbered, *settings.parameters, "kept", settings.measure], rows)
    text = text_of([best.model for best in chosen])
    about = RankerRecord(
        learner=settings.learner,
        features=learnt.features,
        chosen_from=None if learnt.features == names else names,
        seed=settings.seed,
        measure=settings.measure,
        combinations=len(trials[0]),
        chosen=choices,
        folds=folds,
        model_sha256=hash_of(text),
    )
    write_record(record, about)
    write_text(model, text)
    write_timing(
        timing, seconds=seconds, combinations=len(trials[0]), queries=len(learnt.queries),
        pairs=len(learnt.documents), features=len(learnt.features), threads=1, learner=settings.learner,
        versions=machine()["versions"] | {learning.LIBRARY: importlib.metadata.version(learning.LIBRARY)},
    )  # fmt: skip
    words = f"{len(trials[0])} combinations, {seconds:.1f} s" if len(trials[0]) > 1 else f"{seconds:.1f} s"
    each = f", mean of {settings.folds} folds" if settings.folds else ""
    queries = sum(choice.dev_queries for choice in choices)
    value = sum(choice.value for choice in choices) / len(choices)
    message = f"{settings.measure} {value:.4f} on {queries} dev queries{each} ({words})"
    choosing.report(message, record.name, queries)


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
    parameters = dict(chosen.chosen[0].parameters)
    if (trees := chosen.chosen[0].trees_kept) is not None:
        parameters["trees"] = trees
    return learner(chosen.learner).fit(lists, None, parameters, depth, chosen.seed)


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
    again = {"train_queries": len(lists.queries), "train_candidates": len(lists.documents)}
    choice = replace(selected.chosen[0], **again, trees_kept=refitted.rounds)
    write_record(record, replace(selected, chosen=[choice], model_sha256=hash_of(refitted.text())))
    write_text(model, refitted.text())
    library = learner(selected.learner).LIBRARY
    write_timing(
        timing, seconds=before + seconds, refit_seconds=seconds,
        combinations=selected.combinations, queries=len(lists.queries), pairs=len(lists.documents),
        features=len(lists.features), threads=1, learner=selected.learner,
        versions=machine()["versions"] | {library: importlib.metadata.version(library)},
    )  # fmt: skip
    print(f"learnt again from {len(lists.queries)} queries of train and dev, {seconds:.1f} s", file=sys.stderr)


def scores(models: list[Model], lists: Lists, folds: Mapping[str, int] | None) -> np.ndarray:
    """One score per candidate: of the model that was learnt without the query's fold; without folds, the mean."""
    if folds is None:
        return np.mean([model.scores(lists.values) for model in models], axis=0)
    of_rows = np.repeat([folds[query] for query in lists.queries], lists.sizes)
    found = np.empty(len(of_rows))
    for fold, model in enumerate(models, 1):
        if (rows := of_rows == fold).any():
            found[rows] = model.scores(lists.values[rows])
    return found


def rank_by_features(
    features: Path, terms: list[Path], model: Path, record: Path, run: Path, timing: Path,
    depth: Annotated[int, "documents per query that are kept"],
    tag: Annotated[str, "the run's name, its last column"],
    by_fold: Annotated[bool, "whether each query is ranked by the model learnt without its fold, not by all"] = False,
) -> None:  # fmt: skip
    """Rank the candidates of a task's queries with a learnt model, or with those of all folds."""
    stored = read_record(record)
    check_features(features, stored.features_behind, str(record))
    check_indices([features], terms)
    lists = read_lists([features], only=stored.features)
    models = read_models(model, stored)
    folds = stored.folds if by_fold else None
    if folds is not None and (unknown := [query for query in lists.queries if query not in folds]):
        raise UserError(f"{features}: query {unknown[0]} is in no fold of {record}; train the ranker again")

    def rank(some: Lists) -> Run:
        """The candidates of each query by descending score."""
        return run_of(some, scores(models, some, folds), depth)

    start = clock()
    ranked = rank(lists)
    seconds = clock() - start
    singles = single_seconds(rank, [part(lists, [place]) for place in range(len(lists.queries))])
    write_run(run, ranked, tag)
    write_timing(
        timing, learner=stored.learner, depth=depth, queries=len(ranked),
        pairs=len(lists.documents), seconds=seconds, queries_per_second=len(ranked) / seconds,
        latency_ms=latency(singles), threads=1, precision="fp64",
    )  # fmt: skip


COLUMNS = ("feature", "gain", "permutation", "permutation_sd", "shap")
MOST_EXPLAINED = 2000  # candidates whose SHAP values are computed, evenly spaced among all


@dataclass(frozen=True)
class Shuffling:
    measure: Annotated[str, "the measure whose mean on dev falls"]
    depth: Annotated[int, "documents per query that the measure looks at"]
    shuffles: Annotated[int, "how often each feature is shuffled"]
    seed: Annotated[int, "of the shuffles"]


def share_of_gain(model: Model) -> list[float] | None:
    """Each feature's share of the total gain; None if the learner has none."""
    gain = model.gain()
    if gain is None:
        return None
    return [float(one) for one in gain / (gain.sum() or 1.0)]


def falls(model: Model, dev: Lists, qrels: Qrels, settings: Shuffling) -> np.ndarray:
    """The decrease of the mean measure, one row per feature and one column per shuffle."""
    draw = np.random.default_rng(settings.seed)

    def mean(values: np.ndarray) -> float:
        return mean_measure(dev, model.scores(values), qrels, settings.measure, settings.depth)

    whole = mean(dev.values)
    found = np.empty((len(dev.features), settings.shuffles))
    for feature in track(range(len(dev.features)), "shuffled", len(dev.features), "feature"):
        for shuffle in range(settings.shuffles):
            values = dev.values.copy()
            values[:, feature] = draw.permutation(values[:, feature])
            found[feature, shuffle] = whole - mean(values)
    return found


def mean_shap(model: Model, values: np.ndarray) -> list[float] | None:
    """The mean |SHAP value| of each feature; None if the learner has none."""
    rows = np.linspace(0, len(values) - 1, min(len(values), MOST_EXPLAINED)).astype(int)
    explained = model.shap(values[rows])
    return None if explained is None else [float(one) for one in np.abs(explained).mean(axis=0)]


def over_models(found: list[list[float] | None], features: int) -> list[float] | list[None]:
    """The mean of each feature's numbers over the models of all folds; None for each if the learner has none."""
    numbers = [one for one in found if one is not None]
    return np.mean(numbers, axis=0).tolist() if numbers else [None] * features


def importance(
    dev: list[Path], qrels: list[Path], model: Path, record: Path, table: Path, settings: Shuffling
) -> None:  # fmt: skip
    """Feature importance in a learnt ranker: a table (TSV), one row per feature; empty if the learner has no number.

    gain            the total gain of the splits on it in training, as a share of all features' gain
    permutation     the decrease of the mean measure on dev when its values are shuffled over all dev candidates, the
                    mean over several shuffles (Breiman 2001, Random Forests, section 10); seeded
    permutation_sd  the standard deviation over these shuffles
    shap            the mean |SHAP value| over dev candidates, by the library's own routine (Lundberg and Lee 2017)

    With folds, dev is the fold on which a model was selected. The decrease is the mean over the queries of all folds;
    gain and SHAP are means over the models.
    """
    stored = read_record(record)
    if not dev or len(dev) != len(qrels):
        raise UserError("--dev, --qrels: expected one file of each per dataset")
    check_features(dev[0], stored.features_behind, str(record))
    several = len(dev) > 1
    lists, judgements = read_lists(dev, several, stored.features), read_judgements(qrels, several)
    models = read_models(model, stored)
    divided = [(one.dev, one.qrels) for one in divisions(Division(lists, lists, judgements), stored.folds, several)]
    fell = np.average(
        [falls(one, *division, settings) for one, division in zip(models, divided, strict=True)],
        axis=0, weights=[len(held) for _, held in divided],
    )  # fmt: skip
    deviations = fell.std(axis=1, ddof=1) if fell.shape[1] > 1 else np.zeros(len(fell))
    gain = over_models([share_of_gain(one) for one in models], len(fell))
    explained = [mean_shap(one, dev.values) for one, (dev, _) in zip(models, divided, strict=True)]
    shap = over_models(explained, len(fell))
    columns = (lists.features, gain, fell.mean(axis=1).tolist(), deviations.tolist(), shap)
    choosing.write_rows(table, COLUMNS, zip(*columns, strict=True))


if __name__ == "__main__":
    job(train_ranker, refit_ranker, rank_by_features, importance)
