"""The files of rankers: candidate lists from feature files, rankings from scores, a model and its record with its hash.

Reads them; the scripts write them. If several datasets are joined, each query id is prefixed with the number of its
file, so that equal ids stay distinct.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ranktrial.common import settings
from ranktrial.common.errors import UserError
from ranktrial.ir.choosing import judged, mean
from ranktrial.ir.feature_file import check_index, feature_names, read_features
from ranktrial.ir.term_counts import TermCounts
from ranktrial.ir.trec import Qrels, Run, read_qrels
from ranktrial.learning_to_rank.learners import Lists, Model, Value, learner


@dataclass(frozen=True, kw_only=True)
class Choice:
    """How a model was selected, and by the mean of the measure on how many queries."""

    parameters: Mapping[str, Value]
    trees_kept: int | None
    value: float
    dev_queries: int
    train_queries: int
    train_candidates: int


@dataclass(frozen=True, kw_only=True)
class RankerRecord:
    """A ranker, of one model or of one per fold; `chosen_from` lists its files' features if it reads only some."""

    learner: str
    features: list[str]
    chosen_from: list[str] | None = None
    seed: int
    measure: str
    combinations: int
    chosen: list[Choice]
    folds: Mapping[str, int] | None = None  # the fold of each training query, from 1; None for one model
    model_sha256: str

    @property
    def features_behind(self) -> list[str]:
        """The features of the files from which it was learnt, including those that it did not read."""
        return self.chosen_from or self.features


def hash_of(text: str) -> str:
    """The SHA-256 of a model's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_record(path: Path) -> RankerRecord:
    """The record beside a model. Raises UserError for any other file."""
    try:
        return settings.read_record(RankerRecord, path)
    except (ValueError, UserError):
        raise UserError(f"{path}: is not a record of a ranker, or is damaged") from None


def text_of(models: Sequence[Model]) -> str:
    """The file of a ranker: its model's own text, or that of the models of all folds as a JSON list."""
    texts = [model.text() for model in models]
    return texts[0] if len(texts) == 1 else json.dumps(texts)


def read_models(path: Path, record: RankerRecord) -> list[Model]:
    """The model that belongs to a record, or those of its folds, in order.

    Raises UserError for any other file or another ranker's model.
    """
    try:
        text = path.read_text(encoding="utf-8")
        texts = [text] if record.folds is None else [str(one) for one in json.loads(text)]
        models = [learner(record.learner).read(one) for one in texts]
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except (TypeError, ValueError):  # not UTF-8 text, or not a list of texts
        raise UserError(f"{path}: is not a model of {record.learner}") from None
    if hash_of(text) != record.model_sha256:
        raise UserError(f"{path}: is not the model that its record was written with; train it again")
    return models


LARGEST = float(np.finfo(np.float32).max)  # tree libraries store features as 32-bit floats


def read_lists(paths: Sequence[Path], numbered: bool = False, only: Sequence[str] | None = None) -> Lists:
    """The lists of all files, concatenated, with all features or `only` some of them.

    Raises UserError if the files have different features, for a requested feature that is missing, and for a damaged
    file.
    """
    names = feature_names(paths[0])
    chosen = names if only is None else list(only)
    if lacking := [name for name in chosen if name not in names]:
        raise UserError(f"{paths[0]}: lacks the feature {lacking[0]}; it has {', '.join(names)}")
    queries: list[str] = []
    documents: list[str] = []
    grades: list[int] = []
    values: list[np.ndarray] = []
    for number, path in enumerate(paths, 1):
        check_features(path, names, str(paths[0]))
        for some in read_features(path, chosen):
            queries += [f"{number}:{query}" for query in some.queries] if numbered else some.queries
            documents += some.documents
            grades += [max(0, grade or 0) for grade in some.grades]
            if np.abs(some.values).max(initial=0) > LARGEST:
                raise UserError(f"{path}: contains a feature beyond 32 bits, in which the libraries of trees hold it")
            values.append(some.values)
    sizes: dict[str, int] = {}
    before = None
    for query in queries:
        if query != before and query in sizes:
            raise UserError(f"{paths[0]}: the candidates of query {query} are not adjacent")
        sizes[query], before = sizes.get(query, 0) + 1, query
    if not queries:
        raise UserError(f"{paths[0]}: has no candidates")
    sized = np.array(list(sizes.values()))
    return Lists(chosen, list(sizes), sized, documents, np.array(grades), np.concatenate(values))


def part(lists: Lists, places: Sequence[int]) -> Lists:
    """The lists of some queries, given by their places, in ascending order."""
    chosen = np.zeros(len(lists.queries), dtype=bool)
    chosen[places] = True
    rows = np.flatnonzero(np.repeat(chosen, lists.sizes))
    return Lists(
        lists.features, [lists.queries[place] for place in places], lists.sizes[chosen],
        [lists.documents[row] for row in rows], lists.grades[rows], lists.values[rows],
    )  # fmt: skip


def check_features(path: Path, names: list[str], of: str) -> None:
    """Raise UserError unless a file has these features in this order."""
    if (own := feature_names(path)) != names:
        raise UserError(f"{path}: has the features {', '.join(own)}, and {of} has {', '.join(names)}")


def check_indices(paths: Sequence[Path], terms: Sequence[Path]) -> None:
    """Raise UserError unless each file was computed from its own term counts; `terms` are ordered by file."""
    if len(terms) % len(paths):
        raise UserError(f"--terms: expected equally many folders for each of {len(paths)} files, not {len(terms)}")
    each = len(terms) // len(paths)
    for number, path in enumerate(paths):
        opened = [TermCounts(folder) for folder in terms[number * each : (number + 1) * each]]
        check_index(path, {one.statistics["fields"]: one.digest() for one in opened})


def read_judgements(paths: Sequence[Path], numbered: bool = False) -> Qrels:
    """The judgements of all files, for the queries with a relevant document."""
    return {
        f"{number}:{query}" if numbered else query: grades
        for number, path in enumerate(paths, 1)
        for query, grades in judged(read_qrels(path)).items()
    }


def run_of(lists: Lists, scores: np.ndarray, depth: int | None = None) -> Run:
    """The best `depth` candidates of each query (all by default), by descending score.

    Trees give many candidates the same score, which trec_eval would order by document id; here they keep the order of
    the first stage. Scores are written as strictly decreasing 32-bit floats: a tied score is lowered by the smallest
    step.
    """
    ranked: Run = {}
    held = scores.astype(np.float32)
    for query, end, size in zip(lists.queries, lists.ends, lists.sizes, strict=True):
        start = end - size
        order = np.argsort(-held[start:end], kind="stable")[:depth]
        falling = strictly_falling(held[start:end][order])
        names = lists.documents[start:end]
        ranked[query] = {names[place]: float(score) for place, score in zip(order, falling, strict=True)}
    return ranked


def strictly_falling(scores: np.ndarray) -> np.ndarray:
    """Make descending 32-bit scores strictly decreasing by lowering ties to the next smaller number."""
    if (np.diff(scores) < 0).all():
        return scores
    falling = scores.copy()
    for place in range(1, len(falling)):
        if falling[place] >= falling[place - 1]:
            falling[place] = np.nextafter(falling[place - 1], np.float32(-np.inf))
    return falling


def mean_measure(lists: Lists, scores: np.ndarray, qrels: Qrels, measure: str, depth: int) -> float:
    """The mean of the measure over all queries of the qrels, with candidates ranked by the scores."""
    return mean(run_of(lists, scores, depth), qrels, measure)
