"""Int8 and approximate search from raw texts to runs: a trained cross-encoder and a bi-encoder in ONNX, and indices of one
encoding."""

import json

import pytest

from ranktrial.ir.trec import read_run
from tests.workflow.conftest import tiny_config

SEEDS = {"whole": 0, "fp32": 0, "codes": 0, "near": 0, "pairs": 1, "small-pairs": 1}


def experiment() -> dict:
    config = tiny_config()
    rerank = {"model": "bert-ce", "recipe": "random", "rerank": {"first_stage": "plain", "depth": 5}}
    config["recipes"]["random"]["epochs"] = 0.5
    config["systems"] = {
        "plain": {"type": "bm25"},
        "whole": {"model": "bert"},
        "fp32": {"model": "bert", "backend": "onnx"},
        "codes": {"model": "bert", "embeddings": {"precision": "int8"}},
        "near": {"model": "bert", "approximate": {"index": "HNSW8", "efSearch": 64}},
        "pairs": rerank,
        "small-pairs": rerank | {"precision": "int8"},
    }
    config["comparisons"] = {"int8": {"control": "whole", "treatment": "codes"}}
    return config


def test_a_checkpoint_is_exported_once_and_texts_are_encoded_once_for_all_indices(fresh):
    fresh.write_config(experiment())
    planned = fresh.planned()
    assert {"export bert untrained+onnx-fp32 seed-0", "export bert-ce random+onnx-int8 seed-1"} <= planned
    assert {job for job in planned if job.startswith("encode ")} == {
        "encode weather bert untrained seed-0",
        "encode weather bert untrained+onnx-fp32 seed-0",
    }


@pytest.mark.long
def test_a_checkpoint_is_used_by_torch_and_in_onnx_and_an_encoding_in_two_precisions(fresh):
    fresh.write_config(experiment())
    wanted = [f"results/tiny/runs/weather/{name}/seed-{seed}.trec.gz" for name, seed in SEEDS.items()]
    fresh.run(*wanted, "results/tiny/figures/cost-whole.svg", "results/tiny/tables/costs.tsv")
    results = fresh.folder / "results/tiny/runs/weather"
    runs = {name: read_run(results / name / f"seed-{seed}.trec.gz") for name, seed in SEEDS.items()}
    timings = {
        name: json.loads((results / name / f"seed-{seed}.timing.json").read_text()) for name, seed in SEEDS.items()
    }
    for query, documents in runs["whole"].items():
        assert runs["fp32"][query] == pytest.approx(documents, abs=1e-4)
    assert timings["near"]["recall"] > 0.95 and timings["near"]["approximate"]["efSearch"] == 64
    for query, documents in runs["near"].items():
        assert len(documents.keys() & runs["whole"][query].keys()) > 0.8 * len(documents)
    for query, documents in runs["pairs"].items():  # another number a pair, but near
        assert runs["small-pairs"][query].keys() == documents.keys()
    assert runs["small-pairs"] != runs["pairs"]
    assert [timings[name]["precision"] for name in ("fp32", "small-pairs")] == ["fp32", "int8"]
    assert "onnxruntime" in timings["fp32"]["versions"]
    assert timings["codes"]["index_bytes"] < timings["whole"]["index_bytes"] / 2
    assert "Index (MB)" in (fresh.folder / "results/tiny/figures/cost-whole.svg").read_text()
    header = (fresh.folder / "results/tiny/tables/costs.tsv").read_text().splitlines()[0]
    assert header.split("\t")[-2:] == ["index_mb", "weights_mb"]
