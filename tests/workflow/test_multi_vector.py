"""Late interaction from raw texts to runs: a training, a search by token vectors, re-ranking, mining and fusion."""

import json

import pytest

from ranktrial.ir.trec import read_run
from tests.workflow.conftest import tiny_config

SCHEDULE = {"train_on": "weather", "epochs": 0.5, "batch_size": 8, "learning_rate": 0.001}


def test_a_multi_vector_model_is_trained_searches_re_ranks_mines_and_is_fused(fresh):
    config = tiny_config()
    config["models"]["late"] = {"type": "multi-vector", "weights": "weights/tiny", "max_length": 16}
    config["recipes"] = {
        "own": SCHEDULE | {"negatives": {"from": "random", "per_query": 1}},
        "mined": SCHEDULE | {"negatives": {"from": "late", "per_query": 1}},
    }
    config["systems"] = {
        "plain": {"type": "bm25"},
        "late": {"model": "late", "recipe": "own"},
        "again": {"model": "late", "recipe": "own", "rerank": {"first_stage": "plain", "depth": 5}},
        "mined": {"model": "bert", "recipe": "mined"},
        "both": {"type": "fusion", "systems": ["plain", "late"]},
    }
    config["comparisons"] = {}
    fresh.write_config(config)
    planned = fresh.planned()
    assert {"encode weather late own seed-1", "encode weather bert mined seed-1"} <= planned
    assert {f"retrieve {task} late seed-1" for task in ("weather", "weather-train")} <= planned
    assert {"retrieve weather mined seed-1", "rerank weather again seed-1"} <= planned
    systems = {"late": 1, "again": 1, "both": 1}
    negatives = "results/tiny/negatives/weather/human-labels_1-late-negatives_all-queries.tsv"
    fresh.run(*(f"results/tiny/runs/weather/{name}/seed-{n}.trec.gz" for name, n in systems.items()), negatives)
    results = fresh.folder / "results/tiny"
    runs = {name: read_run(results / f"runs/weather/{name}/seed-1.trec.gz") for name in systems}
    for query, documents in runs["again"].items():  # the same scores as in the whole search
        for name in documents.keys() & runs["late"][query].keys():
            assert documents[name] == pytest.approx(runs["late"][query][name], abs=1e-4)
    encoding = json.loads((results / "embeddings/weather/late/own/seed-1.token-vectors.timing.json").read_text())
    assert encoding["documents"] == 60 < encoding["vectors"]
    assert "\tlate\t" in (fresh.folder / negatives).read_text()
