"""Negatives from systems as a user gets them: the jobs that they add, a training with them, and what a margin reruns."""

import json

import pandas as pd
import pytest

from ranktrial.ir.trec import read_run
from tests.workflow.conftest import tiny_config

SCHEDULE = {"train_on": "weather", "epochs": 1, "batch_size": 8, "learning_rate": 0.001}
MINED = SCHEDULE | {"negatives": {"from": "zero-shot", "per_query": 2, "relative_margin": 0.001}}
FILTERED = {"from": [["bm25", "zero-shot", "hard"]], "per_query": 2, "range_max": 10, "cross_encoder": "reranker"}


def with_recipe(**recipe) -> dict:
    made = tiny_config()
    made["recipes"]["mined"] = SCHEDULE | recipe
    made["systems"]["mined"] = {"model": "bert", "recipe": "mined"}
    return made


def test_a_system_adds_its_ranking_of_the_training_queries(fresh):
    before = fresh.planned()
    assert not [job for job in before if job.startswith(("mine_negatives", "collect_", "score_pairs"))]
    fresh.write_config(with_recipe(**MINED))
    name = "human-labels_2-zero-shot-negatives_all-queries_relative-margin-0.001"
    added = fresh.planned() - before
    assert added == {
        "retrieve weather-train zero-shot seed-0",
        f"mine_negatives weather {name}",
        "fine_tune bert mined seed-1",
        "encode weather bert mined seed-1",
        "retrieve weather mined seed-1",
        "score weather mined seed-1",
    }
    # a trained one needs its own training first, and nothing is done twice
    fresh.write_config(with_recipe(**MINED | {"negatives": {"from": "hard"}}))
    mining = {job for job in fresh.planned() - before if "mined" not in job}
    assert mining == {
        "retrieve weather-train hard seed-1", "mine_negatives weather human-labels_3-hard-negatives_all-queries",
    }  # fmt: skip


@pytest.mark.long
def test_a_training_with_negatives_that_a_cross_encoder_filters(fresh):
    fresh.write_config(with_recipe(negatives=FILTERED | {"absolute_margin": 0.0}))
    timing = "results/tiny/models/bert/mined/seed-1.timing.json"
    fresh.run(timing)
    folder = fresh.folder / "results/tiny/negatives/weather"
    (record_file,) = folder.glob("*.mining.json")
    record = json.loads(record_file.read_text())
    table = pd.read_csv(folder / record_file.name.replace(".mining.json", ".tsv"), sep="\t")
    pool = "human-labels_bm25+zero-shot+hard-candidates_all-queries_of-0-10"
    scores = read_run(folder / pool / "reranker/seed-1.trec.gz")
    assert set(scores) == {f"q{n}" for n in range(30)} and all(len(scores[f"q{n}"]) > 5 for n in range(30))
    assert set(table["source"]) <= {"bm25", "zero-shot", "hard"} == set(record["from"])
    assert (table["score"] <= table["positive_score"]).all() and (table["rank"] <= 10).all()
    for row in table.itertuples():
        assert abs(scores[row.query_id][row.negative_id] - row.score) < 1e-6
    relevant = {f"q{n}": f"d{n}" for n in range(30)}
    assert (table["positive_id"] == table["query_id"].map(relevant)).all()
    above = sum(
        score > scores[query][relevant[query]] for query, of_query in scores.items() for score in of_query.values()
    )
    assert record["filtered"] == {"absolute_margin": above}
    assert record["candidates"] == sum(map(len, scores.values())) - 30
    log = next((fresh.folder / "results/tiny/logs/mine_negatives/weather").glob("*.log")).read_text()
    assert f"{above} of {record['candidates']} candidates" in log and "scored by reranker" in log
    learnt = json.loads((fresh.folder / timing).read_text())
    assert learnt["queries"] == table["query_id"].nunique() == record["queries"] - record["queries_without_negatives"]

    # another margin filters by the same scores
    fresh.write_config(with_recipe(negatives=FILTERED | {"absolute_margin": 0.5}))
    again = {" ".join(job.split()[:2]) for job in fresh.planned()}
    assert "mine_negatives weather" in again
    assert not again & {"collect_pairs negatives", "score_pairs negatives", "retrieve weather-train"}


def test_what_cannot_be_mined_is_reported_before_anything_runs(fresh):
    fresh.write_config(with_recipe(negatives={"from": "mined"}))
    done = fresh.snakemake("--dry-run")
    reported = done.stdout + done.stderr
    assert done.returncode != 0 and "Traceback" not in reported
    assert "tiny.yaml: recipes.mined.negatives: a circle: mined -> mined -> mined; what mines or filters" in reported
