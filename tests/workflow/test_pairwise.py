"""The pairwise training of a cross-encoder: pseudo-labels, then samples of few queries with new pairs in each epoch."""

import json

import pandas as pd
import pytest

from tests.workflow.conftest import tiny_config

MODEL = {"max_length": 32, "max_query_length": 5, "max_document_length": 20}
RECIPE = {
    "train_on": "weather",
    "loss": "MarginRankingLoss",
    "negatives": {"per_query": 1, "sampling_strategy": "random", "range_max": 50, "draw": "epoch"},
    "positives": {"per_query": 1, "among_candidates": True},
    "epochs": {8: 3, 16: 2, "all": 1},
    "batch_size": 4,
    "learning_rate": 0.001,
    "head_learning_rate": 0.01,
    "weight_decay": 1.0e-7,
    "warmup": 0.2,
}


def config(sizes: list[int], samples: int = 2) -> dict:
    made = tiny_config()
    made["models"] = {"ce": made["models"]["bert-ce"] | MODEL}
    made["recipes"] = {
        "pseudo": RECIPE | {"labels": "bm25"},
        "few": RECIPE | {"queries": sizes, "samples": samples, "start_from": "pseudo"},
    }
    rerank = {"first_stage": "plain", "depth": 5}
    made["systems"] = {"plain": {"type": "bm25"}, "few": {"model": "ce", "recipe": "few", "seeds": 2, "rerank": rerank}}
    return made | {"comparisons": {}}


@pytest.mark.long
def test_a_chain_of_pairwise_trainings(fresh):
    fresh.write_config(config([8, 16]))
    runs = [f"results/tiny/runs/weather/few-few-{size}/seed-{seed}.trec.gz" for size, seed in ((8, 1), (16, 2))]
    words = "human-labels_1-bm25-negatives_{}-queries_random-of-0-50_1-positives_among-candidates"
    names = words.format(8) + "_3-draws_sample-2", words.format(16) + "_2-draws"  # of the two that are not trained
    examples = [f"results/tiny/negatives/weather/{name}.tsv" for name in names]
    fresh.run(*runs, *examples)
    results = fresh.folder / "results/tiny"

    def timing(recipe, seed):
        return json.loads((results / f"models/ce/{recipe}/seed-{seed}.timing.json").read_text())

    assert [timing("few-8", 1)[key] for key in ("queries", "examples", "steps", "epochs")] == [8, 8, 6, 3]
    assert [timing("few-16", 2)[key] for key in ("queries", "examples", "steps", "epochs")] == [16, 16, 8, 2]
    assert timing("pseudo", 1)["epochs"] == 1 and timing("pseudo", 1)["queries"] > 20
    assert timing("few-8", 1)["max_document_length"] == 20
    asked = {}
    for size, epochs in ((8, 3), (16, 2)):
        for sample in (1, 2):
            name = f"{words.format(size)}_{epochs}-draws" + ("_sample-2" if sample == 2 else "")
            table = pd.read_csv(results / f"negatives/weather/{name}.tsv", sep="\t")
            table = table[table["source"] == "bm25"]
            assert sorted(table["epoch"].unique()) == list(range(1, epochs + 1))
            assert (table.groupby("epoch")["query_id"].nunique() == size).all()
            assert (table["bm25_rank"] <= 50).all()
            asked[size, sample] = set(table["query_id"])
    assert asked[8, 1] < asked[16, 1] and asked[8, 2] < asked[16, 2] and asked[8, 1] != asked[8, 2]

    # another size and another sample add their own jobs alone
    before = fresh.planned()
    left = {"fine_tune ce few-8 seed-2", "fine_tune ce few-16 seed-1"}
    assert {job for job in before if "fine_tune" in job or "negatives" in job} == left
    fresh.write_config(config([8, 12, 16]))
    assert {job for job in fresh.planned() - before if job.startswith(("fine_tune", "negatives"))} == {
        "fine_tune ce few-12 seed-1",
        "fine_tune ce few-12 seed-2",
        "negatives weather human-labels_1-bm25-negatives_12-queries_random-of-0-50_1-positives_among-candidates_3-draws",
        "negatives weather "
        "human-labels_1-bm25-negatives_12-queries_random-of-0-50_1-positives_among-candidates_3-draws_sample-2",
    }
    fresh.write_config(config([8, 16], samples=3))
    assert {job for job in fresh.planned() if job.startswith(("fine_tune", "negatives"))} == left
    fresh.run("--dry-run", "archive")  # whose settings hold the numbers of queries as text
