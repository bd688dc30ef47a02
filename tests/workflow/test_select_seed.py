"""A system that selects its seed on a dev split: all seeds run there, the chosen one alone on another dataset."""

import json
import re

import pandas as pd
import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run
from tests.workflow.conftest import tiny_config, write_collection


@pytest.fixture
def workspace(fresh):
    """Three systems that select, or follow one that does, on the tiny collection and another one."""
    write_collection(fresh.folder / "data" / "other", seed=2)
    config = tiny_config()
    config["datasets"]["other"] = {"format": "beir", "location": "data/other"}
    config["recipes"] = {"hard": config["recipes"]["hard"] | {"epochs": 1}}
    config["systems"] = {
        "plain": {"type": "bm25", "analyzer": "standard", "fields": "best", "k1": 1.2, "b": 0.75},
        "tuned": {"model": "bert", "recipe": "hard", "seeds": 2, "select_seed": {"task": "weather/dev"}},
        "again": {"model": "bert", "recipe": "hard", "seeds": 2, "select_seed": {"by": "tuned"},
                  "rerank": {"first_stage": "plain", "depth": 5}},
        "over": {"model": "bert", "rerank": {"first_stage": "tuned", "depth": 5}},
    }  # fmt: skip
    config["tasks"] = ["weather", "other"]
    config["comparisons"] = {"tuned": {"control": "plain", "treatment": "tuned"}}
    fresh.write_config(config)
    return fresh, config


def test_only_the_selected_seed_is_planned_for_other_datasets(workspace):
    planned = workspace[0].planned()
    jobs = {job for job in planned if re.match(r"(retrieve|rerank|encode|score|select_seed|index) ", job)}
    assert {job for job in jobs if job.startswith("retrieve ")} == {
        *(f"retrieve {task} tuned seed-{seed}" for task in ("weather", "weather-dev") for seed in (1, 2)),
        "retrieve other tuned seed-selected",
    }
    assert {job for job in jobs if job.startswith("encode other")} == {"encode other bert hard seed-selected-tuned"}
    assert {job for job in jobs if job.startswith("rerank other")} == {
        "rerank other again seed-selected",
        "rerank other over seed-selected",
    }
    assert not any(job.startswith("score weather-dev") for job in jobs)
    assert {job for job in jobs if job.startswith("select_seed")} == {"select_seed tuned"}
    assert "index weather-standard-best" in jobs


@pytest.mark.long
def test_the_selected_seed_is_the_best_on_dev_and_the_others_stay_out(workspace):
    workspace, config = workspace
    del config["systems"]["again"]
    workspace.write_config(config)
    tables = [f"results/tiny/tables/{name}.tsv" for name in ("means", "costs", "selected-seeds")]
    workspace.run("results/tiny/effects/tuned.tsv", *tables)
    results = workspace.folder / "results/tiny"
    qrels = read_qrels(results / "data/weather/qrels/dev.qrels")
    scores = {}
    for seed in (1, 2):
        run = read_run(results / f"runs/weather-dev/tuned/seed-{seed}.trec.gz")
        values = evaluate(run, qrels, ["R@1", "R@3", "R@5"]).mean()
        scores[seed] = (3 * values["R@1"] + 2 * values["R@3"] + values["R@5"]) / 6
    chosen = max(scores, key=lambda seed: (scores[seed], -seed))
    record = json.loads((results / "models/bert/hard/seed-selected-tuned.json").read_text())
    assert record["chosen"] == chosen
    assert {one["seed"]: one["score"] for one in record["seeds"]} == pytest.approx(scores)
    weights = results / "models/bert/hard"
    kept = (weights / "seed-selected-tuned/model.safetensors").read_bytes()
    assert kept == (weights / f"seed-{chosen}/model.safetensors").read_bytes()
    means = pd.read_csv(results / "tables/means.tsv", sep="\t").set_index(["task", "system"])
    assert means["seeds"].to_dict() == {
        ("weather", "plain"): 1, ("weather", "tuned"): 2, ("weather", "over"): 2,
        ("other", "plain"): 1, ("other", "tuned"): 1, ("other", "over"): 1,
    }  # fmt: skip
    effects = pd.read_csv(results / "effects/tuned.tsv", sep="\t").set_index("task")
    assert effects["treatment_seeds"].to_dict() == {"weather": 2, "other": 1}
    costs = pd.read_csv(results / "tables/costs.tsv", sep="\t", dtype=str)
    assert list(costs[(costs["task"] == "other") & (costs["system"] == "tuned")]["seed"]) == ["selected"]
    selected = pd.read_csv(results / "tables/selected-seeds.tsv", sep="\t")
    (kept,) = selected[selected["chosen"] == "yes"].to_dict("records")
    assert (kept["system"], kept["seed"], kept["formula"]) == ("tuned", chosen, "(3 R@1 + 2 R@3 + R@5)/6")
    assert (kept["task"], kept["split"]) == ("weather/dev", "dev")
    config["systems"]["tuned"]["select_seed"]["task"] = "weather"
    workspace.write_config(config)
    planned = workspace.planned()
    assert "select_seed tuned" in planned
    assert not any(job.startswith(("fine_tune", "weights", "retrieve weather")) for job in planned)
