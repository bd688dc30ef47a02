"""Learned sparse retrieval from raw texts to runs: a training, a search by terms, re-ranking and mining."""

import json

import pytest

from ranktrial.ir.trec import read_run
from tests.support.tiny_bert import build_masked
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.long

SCHEDULE = {"train_on": "weather", "epochs": 0.5, "batch_size": 8, "learning_rate": 0.001}


def test_a_sparse_encoder_is_trained_searches_re_ranks_and_mines(fresh):
    texts = (fresh.folder / "data/weather/corpus.jsonl").read_text().splitlines()
    build_masked(fresh.folder / "weights/masked", [json.loads(line)["text"] for line in texts], seed=1)
    config = tiny_config()
    config["models"]["sparse"] = {"type": "sparse-encoder", "weights": "weights/masked", "max_length": 16}
    config["recipes"] = {
        "own": SCHEDULE | {"negatives": {"from": "random", "per_query": 1}, "query_regularizer_weight": 0.001},
        "mined": SCHEDULE | {"negatives": {"from": "sparse", "per_query": 1}},
    }
    config["systems"] = {
        "plain": {"type": "bm25"},
        "sparse": {"model": "sparse", "recipe": "own"},
        "again": {"model": "sparse", "recipe": "own", "rerank": {"first_stage": "plain", "depth": 5}},
        "mined": {"model": "bert", "recipe": "mined"},
    }
    config["comparisons"] = {}
    fresh.write_config(config)
    planned = fresh.planned()
    assert {"encode weather sparse own seed-1", "encode weather bert mined seed-1"} <= planned
    assert {f"retrieve {task} sparse seed-1" for task in ("weather", "weather-train")} <= planned
    negatives = "results/tiny/negatives/weather/human-labels_1-sparse-negatives_all-queries.tsv"
    wanted = [f"results/tiny/runs/weather/{name}/seed-1.trec.gz" for name in ("sparse", "again")]
    fresh.run(*wanted, negatives)
    results = fresh.folder / "results/tiny"
    runs = {name: read_run(results / f"runs/weather/{name}/seed-1.trec.gz") for name in ("sparse", "again")}
    for query, documents in runs["again"].items():  # the same scores as in the whole search
        for name in documents.keys() & runs["sparse"][query].keys():
            assert documents[name] == pytest.approx(runs["sparse"][query][name], rel=1e-4)
    encoding = json.loads((results / "embeddings/weather/sparse/own/seed-1.terms.timing.json").read_text())
    assert encoding["documents"] == 60 and encoding["terms_per_document"] > 0
    assert "\tsparse\t" in (fresh.folder / negatives).read_text()
    training = json.loads((results / "models/sparse/own/seed-1.timing.json").read_text())
    assert training["loss"] == "SpladeLoss" and training["query_regularizer_weight"] == 0.001
