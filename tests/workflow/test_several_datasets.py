"""One training on two datasets, from their raw texts to runs on both, and its metadata."""

import json

import pytest

from tests.workflow.conftest import tiny_config, write_collection


@pytest.mark.long
def test_a_model_learns_from_two_datasets_and_ranks_both(fresh):
    write_collection(fresh.folder / "data/tides", seed=2)
    config = tiny_config()
    config["datasets"]["tides"] = {"format": "beir", "location": "data/tides"}
    config["recipes"] = {
        "both": {"train_on": [["weather", "tides"]], "multi_dataset_batch_sampler": "round_robin", "queries": 12,
                 "negatives": {"from": "random", "per_query": 1}, "batch_size": 8, "learning_rate": 0.001},
    }  # fmt: skip
    config["systems"] = {"both": {"model": "bert", "recipe": "both"}}
    config |= {"tasks": ["weather", "tides"], "comparisons": {}}
    fresh.write_config(config)
    planned = fresh.planned()
    assert {f"negatives {name} human-labels_1-random-negatives_12-queries" for name in ("weather", "tides")} <= planned
    fresh.run(*(f"results/tiny/runs/{task}/both/seed-1.trec.gz" for task in ("weather", "tides")))
    timing = json.loads((fresh.folder / "results/tiny/models/bert/both/seed-1.timing.json").read_text())
    of_each = {"queries": 12, "examples": 12, "examples_per_epoch": 12}
    assert timing["by_dataset"] == {"weather": of_each, "tides": of_each}
    assert (timing["steps"], timing["queries"]) == (4, 24)
    assert (timing["datasets"], timing["multi_dataset_batch_sampler"]) == (["weather", "tides"], "round_robin")
    assert not any(job.startswith(("negatives", "fine_tune", "encode")) for job in fresh.planned())  # nothing again
