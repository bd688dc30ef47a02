"""Models with an index of their own, from raw texts to runs: a training, a search, re-ranking, mining and fusion."""

import json

import pytest

from ranktrial.ir.trec import read_run
from tests.support.tiny_bert import build_masked
from tests.workflow.conftest import tiny_config

SCHEDULE = {"train_on": "weather", "epochs": 0.5, "batch_size": 8, "learning_rate": 0.001}
MODELS = {
    "late": {"type": "multi-vector", "weights": "weights/tiny", "max_length": 16},
    "sparse": {"type": "sparse-encoder", "weights": "weights/masked", "max_length": 16},
}
OWN_KEYS = {"late": {}, "sparse": {"query_regularizer_weight": 0.001}}
INDICES = {"late": ("token-vectors", "vectors"), "sparse": ("terms", "terms_per_document")}  # form, and what is counted
NEAR = {"late": {"abs": 1e-4}, "sparse": {"rel": 1e-4}}


@pytest.mark.parametrize("name", ["late", pytest.param("sparse", marks=pytest.mark.long)])
def test_a_model_is_trained_searches_re_ranks_mines_and_is_fused(fresh, name):
    texts = (fresh.folder / "data/weather/corpus.jsonl").read_text().splitlines()
    build_masked(fresh.folder / "weights/masked", [json.loads(line)["text"] for line in texts], seed=1)
    config = tiny_config()
    config["models"][name] = MODELS[name]
    config["recipes"] = {
        "own": SCHEDULE | {"negatives": {"from": "random", "per_query": 1}, **OWN_KEYS[name]},
        "mined": SCHEDULE | {"negatives": {"from": name, "per_query": 1}},
    }
    config["systems"] = {
        "plain": {"type": "bm25"},
        name: {"model": name, "recipe": "own"},
        "again": {"model": name, "recipe": "own", "rerank": {"first_stage": "plain", "depth": 5}},
        "mined": {"model": "bert", "recipe": "mined"},
        "both": {"type": "fusion", "systems": ["plain", name]},
    }
    config["comparisons"] = {}
    fresh.write_config(config)
    planned = fresh.planned()
    assert {f"encode weather {name} own seed-1", "encode weather bert mined seed-1"} <= planned
    assert {f"retrieve {task} {name} seed-1" for task in ("weather", "weather-train")} <= planned
    assert {"retrieve weather mined seed-1", "rerank weather again seed-1"} <= planned
    systems = (name, "again", "both")
    negatives = f"results/tiny/negatives/weather/human-labels_1-{name}-negatives_all-queries.tsv"
    fresh.run(*(f"results/tiny/runs/weather/{system}/seed-1.trec.gz" for system in systems), negatives)
    results = fresh.folder / "results/tiny"
    runs = {system: read_run(results / f"runs/weather/{system}/seed-1.trec.gz") for system in systems}
    for query, documents in runs["again"].items():  # the same scores as in the whole search
        for document in documents.keys() & runs[name][query].keys():
            assert documents[document] == pytest.approx(runs[name][query][document], **NEAR[name])
    form, counted = INDICES[name]
    encoding = json.loads((results / f"embeddings/weather/{name}/own/seed-1.{form}.timing.json").read_text())
    assert encoding["documents"] == 60 and encoding[counted] > (60 if name == "late" else 0)
    assert f"\t{name}\t" in (fresh.folder / negatives).read_text()
    if name == "sparse":
        training = json.loads((results / "models/sparse/own/seed-1.timing.json").read_text())
        assert training["loss"] == "SpladeLoss" and training["query_regularizer_weight"] == 0.001
