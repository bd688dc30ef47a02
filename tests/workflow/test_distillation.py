"""Distillation as a user gets it: a student trained by a teacher's scores, and what another teacher makes anew."""

import json

import pytest

from ranktrial.experiment.results_paths import kind, parse
from ranktrial.ir.trec import read_run
from ranktrial.training.examples import read_table
from tests.workflow.conftest import tiny_config

pytestmark = pytest.mark.long

NAME = "human-labels_2-bm25-negatives_all-queries"
TIMING = "results/tiny/models/bert/taught/seed-1.timing.json"


def with_teacher(teacher: str) -> dict:
    made = tiny_config()
    made["recipes"]["taught"] = {
        "train_on": "weather",
        "negatives": {"per_query": 2},
        "batch_size": 8,
        "teacher": teacher,
    }
    made["systems"]["second"] = made["systems"]["reranker"] | {"rerank": {"first_stage": "plain", "depth": 4}}
    made["systems"]["taught"] = {"model": "bert", "recipe": "taught"}
    return made


def test_a_student_learns_from_the_scores_of_its_teacher(fresh):
    fresh.write_config(with_teacher("reranker"))
    fresh.run(TIMING)
    folder = fresh.folder / "results/tiny"
    scores_file = folder / "teachers/weather" / NAME / "reranker/seed-1.trec.gz"
    rows = read_table(folder / "negatives/weather" / f"{NAME}.tsv").rows
    scores = read_run(scores_file)
    pairs = {(row.query, one) for row in rows for one in (row.positive, row.negative)}
    assert {(query, one) for query, of_query in scores.items() for one in of_query} == pairs
    timing = json.loads((fresh.folder / TIMING).read_text())
    assert timing["teacher"] == "reranker" and timing["loss"] == "DistillKLDivLoss" and timing["scale"] in (1, 20)
    place = str(scores_file.relative_to(fresh.folder))
    assert kind(place) == "run" and parse(place)[1]["system"] == "reranker"  # so archives hold it

    # another teacher scores the same pairs, and its student alone is trained again
    fresh.write_config(with_teacher("second"))
    jobs = fresh.planned("tiny.yaml", TIMING)
    assert jobs == {f"score_pairs teachers weather {NAME} second seed-1", "fine_tune bert taught seed-1"}
