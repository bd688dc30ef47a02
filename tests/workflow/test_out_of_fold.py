"""Scores of models trained on the same queries as a feature: cross-encoders without a fold each, joined, and a ranker.

Their recipe is OpenNIR's: a frozen encoder, the pairwise softmax loss, epochs of so many steps.
"""

import json

import pytest

from ranktrial.ir.query_samples import fold_of
from ranktrial.ir.trec import read_run
from tests.workflow.conftest import tiny_config

SEED = 7
RECIPE = {
    "train_on": "weather",
    "folds": 2,
    "left_out_fold": [1, 2],
    "loss": "PairwiseSoftmaxLoss",
    "freeze": "encoder",
    "steps_per_epoch": 3,
    "epochs": 2,
    "batch_size": 4,
    "learning_rate": 0.01,
}


def config() -> dict:
    made = tiny_config()
    made["models"] = {"ce": made["models"]["bert-ce"] | {"max_length": 32}}
    made["recipes"] = {"r": RECIPE}
    made["systems"] = {
        "plain": {"type": "bm25"},
        "ce": {"model": "ce", "recipe": "r", "rerank": {"first_stage": "plain", "depth": 5}},
        "stacked": {"type": "out-of-fold", "systems": ["ce"]},
        "ranker": {"type": "learning-to-rank", "features": "both", "learner": "linear", "refit": True},
    }
    of = ["BM25", {"system": "stacked"}]
    made["features"] = {"both": {"first_stage": "plain", "depth": 5, "of": of}}
    return made | {"seed": SEED, "comparisons": {}}


@pytest.mark.long
def test_a_ranker_learns_from_the_scores_of_models_that_have_not_seen_the_query(fresh):
    fresh.write_config(config())
    fresh.run("results/tiny/runs/weather/ranker/seed-0.trec.gz")
    results = fresh.folder / "results/tiny"
    timings = [json.loads((results / f"models/ce/r-{fold}/seed-1.timing.json").read_text()) for fold in (1, 2)]
    assert [timing["steps"] for timing in timings] == [6, 6]
    assert all(timing["trainable_parameters"] < timing["parameters"] / 10 for timing in timings)
    folds = [read_run(results / f"runs/weather-train/ce-r-{fold}/seed-1.trec.gz") for fold in (1, 2)]
    joined = read_run(results / "runs/weather-train/stacked/seed-0.trec.gz")
    assert joined == {query: folds[fold_of(query, 2, SEED) - 1][query] for query in folds[0]}
    assert joined not in folds and folds[0] != folds[1]
    tests = [read_run(results / f"runs/weather/ce-r-{fold}/seed-1.trec.gz") for fold in (1, 2)]
    for query, scores in read_run(results / "runs/weather/stacked/seed-0.trec.gz").items():
        for document, score in scores.items():
            assert score == pytest.approx((tests[0][query][document] + tests[1][query][document]) / 2, rel=1e-6)
    record = json.loads((results / "rankers/weather/ranker/refitted/seed-0.json").read_text())
    assert record["features"] == ["BM25", "system.stacked"]
