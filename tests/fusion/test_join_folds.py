"""Joining the runs of folds: each training query from the model that has not seen it, others from all by the mean."""

import json
from collections import Counter

import pytest

from ranktrial.ir.query_samples import equal_folds, fold_of
from ranktrial.ir.trec import read_run, write_run
from scripts.fusion.jobs import join_folds
from tests.support.calling import call
from tests.support.one_line import refused

QUERIES = [f"q{number}" for number in range(40)]
FOLDS, SEED = 3, 7


@pytest.fixture
def runs(tmp_path):
    """The re-ranker without fold k gives document a the score k and document b the score 2.5."""
    paths = [tmp_path / f"fold-{fold}.trec" for fold in range(1, FOLDS + 1)]
    for fold, path in enumerate(paths, 1):
        write_run(path, {query: {"a": float(fold), "b": 2.5} for query in QUERIES}, "t")
    return paths


def joined(tmp_path, runs, training, depth=10):
    settings = {"seed": SEED, "are_training_queries": training, "depth": depth, "tag": "oof-0"}
    call(join_folds, settings, runs=runs, run=tmp_path / "run", timing=tmp_path / "run.json")
    return read_run(tmp_path / "run")


def test_a_training_query_has_the_scores_of_the_model_trained_without_it(tmp_path, runs):
    found = joined(tmp_path, runs, training=True)
    assert {query: scores["a"] for query, scores in found.items()} == {
        query: float(fold_of(query, FOLDS, SEED)) for query in QUERIES
    }
    assert {tuple(scores) for scores in found.values()} == {("a", "b"), ("b", "a")}  # fold 3 has a before b
    assert json.loads((tmp_path / "run.json").read_text())["folds"] == FOLDS


def test_any_other_query_has_the_mean_of_all(tmp_path, runs):
    found = joined(tmp_path, runs, training=False)
    assert all(scores == {"b": 2.5, "a": 2.0} for scores in found.values()) and len(found) == 40
    assert all(scores == {"b": 2.5} for scores in joined(tmp_path, runs, False, depth=1).values())


def test_of_equal_scores_the_cut_keeps_what_trec_eval_ranks_first(tmp_path, runs):
    for path in runs:
        write_run(path, {query: {"a": 1.0, "b": 1.0} for query in QUERIES}, "t")
    assert all(scores == {"b": 1.0} for scores in joined(tmp_path, runs, False, depth=1).values())


def test_folds_are_about_equal_and_follow_from_query_and_seed_alone():
    sizes = [sum(fold_of(f"q{n}", 5, 1) == fold for n in range(5000)) for fold in range(1, 6)]
    assert sum(sizes) == 5000 and all(900 < size < 1100 for size in sizes)
    assert [fold_of(query, 5, 1) for query in QUERIES] != [fold_of(query, 5, 2) for query in QUERIES]


def test_equal_folds_differ_by_one_query_at_most_and_follow_from_queries_and_seed_alone():
    for number in range(3, 60):
        queries = [f"q{place}" for place in range(number)]
        folds = equal_folds(queries, 3, 1)
        sizes = Counter(folds.values())
        assert set(sizes) == {1, 2, 3} and max(sizes.values()) - min(sizes.values()) <= 1
        assert folds == equal_folds(reversed(queries + queries), 3, 1)
    assert folds != equal_folds(queries, 3, 2)


def test_runs_of_other_documents_are_refused(tmp_path, runs):
    write_run(runs[1], {query: {"a": 1.0, "c": 2.5} for query in QUERIES}, "t")
    with refused("fold-2.trec: contains other queries or documents than"):
        joined(tmp_path, runs, training=True)
    assert not (tmp_path / "run").exists()
