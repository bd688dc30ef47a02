"""Adapters and truncated vectors from raw texts to runs: one base on the disk, one encoding for all dimensions."""

import json

import pytest
from safetensors.numpy import load_file

from ranktrial.ir.trec import read_run
from tests.workflow.conftest import tiny_config

SCHEDULE = {"train_on": "weather", "negatives": {"from": "random", "per_query": 1}, "epochs": 0.5, "batch_size": 8}
SCHEDULE["learning_rate"] = 0.01


@pytest.mark.long
def test_an_adapter_is_trained_trained_further_and_ranks_in_several_dimensions(fresh):
    config = tiny_config()
    config["recipes"] = {
        "adapter": SCHEDULE | {"lora": {"r": 2}, "matryoshka_dims": [32, 4]},
        "further": SCHEDULE | {"start_from": "adapter", "gradient_checkpointing": True},
    }
    config["systems"] = {
        "plain": {"type": "bm25"},
        "adapter": {"model": "bert", "recipe": "adapter", "truncate_dim": [32, 4]},
        "further": {"model": "bert", "recipe": "further", "rerank": {"first_stage": "plain", "depth": 5}},
    }
    config["comparisons"] = {}
    fresh.write_config(config)
    planned = fresh.planned()
    assert [job for job in planned if job.startswith("encode ")] == ["encode weather bert adapter seed-1"]
    names = ("adapter-32", "adapter-4", "further")
    wanted = [f"results/tiny/runs/weather/{name}/seed-1.trec.gz" for name in names]
    fresh.run(*wanted, "results/tiny/tables/costs.tsv")
    models = fresh.folder / "results/tiny/models"
    trained = models / "bert/adapter/seed-1"
    assert (trained / "model.safetensors").samefile(models / "bert/untrained/seed-0/model.safetensors")
    adapter = load_file(trained / "adapter/adapter_model.safetensors")
    assert all(2 in rows.shape for rows in adapter.values())
    assert not (models / "bert/further/seed-1/adapter").exists()  # all weights, from what both made together
    timing = json.loads((models / "bert/adapter/seed-1.timing.json").read_text())
    assert timing["saved_bytes"] < 20_000 < (trained / "model.safetensors").stat().st_size
    runs = {name: read_run(fresh.folder / path) for name, path in zip(names, wanted, strict=True)}
    assert runs["adapter-32"].keys() == runs["adapter-4"].keys() and runs["adapter-32"] != runs["adapter-4"]
    costs = (fresh.folder / "results/tiny/tables/costs.tsv").read_text().splitlines()
    columns, *rows = [line.split("\t") for line in costs]
    sizes = {row[columns.index("system")]: row[columns.index("index_mb")] for row in rows}
    assert (float(sizes["adapter-32"]), float(sizes["adapter-4"])) == (0.00768, 0.00096)
    done_before = ("weights ", "fine_tune ", "encode ", "retrieve ")  # the date of a link is that of the base
    assert not [job for job in fresh.planned() if job.startswith(done_before)]
