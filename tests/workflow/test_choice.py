"""A recipe that is chosen on dev and evaluated while it is trained: planned, run to the summary, and reported."""

import json

import pandas as pd
import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import read_qrels, read_run
from tests.workflow.conftest import tiny_config


def chosen_config() -> dict:
    """One that learns against one that does not, each with the best of its states."""
    config = tiny_config()
    kept = {"evaluate": {"candidates": 10}, "load_best_model_at_end": True, "early_stopping_patience": 2}
    choice = {"learning_rate": [1e-9, 0.001], "choose": {"measure": "RR@10"}}
    config["recipes"] = {"tuned": config["recipes"]["random"] | kept | choice}
    config["systems"] = {"plain": config["systems"]["plain"], "dense": {"model": "bert", "recipe": "tuned"}}
    config["comparisons"] = {"tuned": {"control": "plain", "treatment": "dense"}}
    return config


@pytest.mark.long
def test_the_best_recipe_on_dev_ranks_the_tasks(fresh):
    fresh.write_config(chosen_config())
    fresh.run("results/tiny/summary.md")
    results = fresh.folder / "results/tiny"
    chosen = results / "models/bert/tuned-chosen-by-dense"
    record = json.loads((chosen / "choice.json").read_text())
    qrels = read_qrels(results / "data/weather/qrels/dev.qrels")
    for one in record["recipes"]:
        member = one["recipe"].replace("tuned", "dense")
        for seed, value in one["seeds"].items():
            run = read_run(results / f"runs/weather-dev/{member}/seed-{seed}.trec.gz")
            assert value == evaluate(run, qrels, ["RR@10"])["RR@10"].mean()
    best = max(record["recipes"], key=lambda one: one["score"])["recipe"]
    assert record["chosen"] == best
    paths = [folder / "seed-1/model.safetensors" for folder in (chosen, results / f"models/bert/{best}")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    timing = json.loads((chosen / "seed-1.timing.json").read_text())
    assert timing["evaluate"]["measure"] == "nDCG@10" and timing["kept_step"] == timing["best_step"]
    table = pd.read_csv(results / "tables/chosen-recipes.tsv", sep="\t")
    assert dict(zip(table["recipe"], table["chosen"], strict=True))[best] == "yes" and len(table) == 2
    assert not (results / "runs/weather/dense-0.001").exists()
    compared = pd.read_csv(results / "tables/comparisons.tsv", sep="\t")
    assert (compared["control_tried"][0], compared["treatment_tried"][0]) == (1, 2)
    assert f"- **dense**: {best} of 2, by RR@10 on weather/dev (" in (results / "summary.md").read_text()
    again = fresh.planned()
    assert not any(job.split()[0] in ("fine_tune", "choose_recipe", "chosen_checkpoint") for job in again), again
