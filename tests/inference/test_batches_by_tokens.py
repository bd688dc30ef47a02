"""`batch_tokens`: every way of ranking gives what it gives with batches of so many texts, also in shards."""

import json

import numpy as np
import pytest

from ranktrial.experiment.resolution import resolve
from scripts.inference import planning
from scripts.inference.rerank import rerank
from scripts.inference.score_all import score_all
from tests.experiment.test_config import changed
from tests.inference.test_lengths import encoded, folder, like, ranked  # noqa: F401 - a fixture among them
from tests.support.one_line import refused

WAYS = {"rerank": ("bi", rerank), "rerank pairs": ("cross", rerank), "score all": ("cross", score_all)}


@pytest.mark.parametrize("way", WAYS)
def test_runs_are_those_of_other_batches(folder, tmp_path, way):  # noqa: F811
    model, script = WAYS[way]
    further = {"first_stage": folder / "long" / "first"} if script is rerank else {}
    made = {
        name: ranked(folder, tmp_path / name, "long", model, script, reported, **further)
        for name, reported in {"texts": {}, "tokens": {"batch_tokens": 64}}.items()
    }
    assert like(made["texts"], made["tokens"])
    assert json.loads((tmp_path / "tokens" / "t.json").read_text())["batch_tokens"] == 64
    assert "batch_tokens" not in json.loads((tmp_path / "texts" / "t.json").read_text())


def test_embeddings_are_those_of_other_batches(folder, tmp_path):  # noqa: F811
    texts = np.load(encoded(folder, tmp_path / "a", "long")["index"] / "vectors.npy")
    tokens = np.load(encoded(folder, tmp_path / "b", "long", batch_tokens=64)["index"] / "vectors.npy")
    assert np.abs(texts - tokens).max() < 2e-6
    assert json.loads((tmp_path / "b" / "e.json").read_text())["batch_tokens"] == 64
    folders = [encoded(folder, tmp_path / f"s{n}", "long", batch_tokens=64, shard=[n, 2]) for n in range(2)]
    shards = [np.load(made["index"] / "vectors.npy") for made in folders]
    assert np.array_equal(np.concatenate([rows for rows in shards if len(rows)]), tokens)


def resolved(**model):
    reported = {f"models/{name}/{key}": value for name in ("m", "ce") for key, value in model.items()}
    systems = {"zero": {"model": "m"}, "reranker": {"model": "ce", "rerank": {"first_stage": "bm25"}}}
    systems["exported"] = systems["reranker"] | {"precision": "int8"}
    return resolve(changed(reported | {f"systems/{name}": entry for name, entry in systems.items()}), "c.yaml")


def test_what_encodes_a_corpus_or_scores_by_torch_is_reported():
    experiment = resolved(batch_tokens=4096)
    assert planning.encoding_settings(experiment, "d", "m")["batch_tokens"] == 4096
    assert planning.ranking_settings(experiment, "runs/d", "reranker", 0)["batch_tokens"] == 4096
    for system in ("zero", "exported"):  # encodes queries alone; computes by onnxruntime
        assert "batch_tokens" not in planning.ranking_settings(experiment, "runs/d", system, 0)
    for unsaid in (resolved(), resolved(batch_tokens=None)):  # no finished job runs again
        assert "batch_tokens" not in planning.encoding_settings(unsaid, "d", "m")
        assert "batch_tokens" not in planning.ranking_settings(unsaid, "runs/d", "reranker", 0)


@pytest.mark.parametrize(
    ("reported", "message"),
    [
        ({"models/m/batch_tokens": 100}, "models.m.batch_tokens: is less than max_length 128"),
        ({"models/m/batch_tokens": 0}, "models.m.batch_tokens: 0 is too small"),
        ({"models/m/type": "sparse-encoder", "models/m/batch_tokens": 4096}, "models.m.batch_tokens: only valid for a bi-encoder or cross-encoder with backend: torch"),
        ({"models/ce/backend": "onnx", "models/ce/weights": ".", "models/ce/batch_tokens": 4096}, "models.ce.batch_tokens: only valid for a bi-encoder or cross-encoder with backend: torch"),
    ],
)  # fmt: skip
def test_what_forms_no_such_batches_refuses_them(reported, message):
    with refused(message):
        resolve(changed(reported), "c.yaml")
