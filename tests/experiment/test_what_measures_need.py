"""Measures that need more than a run and judgements of documents: subtopics, or a task with other instructions."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.experiment.resolution import resolve
from scripts.evaluation import planning
from tests.experiment.test_config import BASE, changed
from tests.support.one_line import refused

TREC = {"format": "trec", "location": "tests", "documents": ["d"], "topics": {"test": "t"}, "qrels": {"test": "q"}}
LISTED = {"systems": {"bm25": {"type": "bm25"}}, "recipes": {}, "models": {}, "comparisons": {}}
CHANGED = {"format": "beir", "location": "tests", "corpus": "d", "changed_from": "d"}


def resolved(**changes):
    return resolve(changed(LISTED | changes), "c.yaml")


def test_measures_by_subtopic_are_of_tasks_that_have_them():
    datasets = BASE["datasets"] | {"web": TREC | {"subtopics": True}}
    experiment = resolved(datasets=datasets, tasks=["web"], measures=["alpha_nDCG@10", "ERR_IA@10", "nDCG@10"])
    assert experiment.tasks["web"].measures == ("alpha_nDCG@10", "ERR_IA@10", "nDCG@10")
    with pytest.raises(UserError) as error:
        resolved(datasets=datasets, tasks=["web", "d"], measures=["StRecall@10"])
    assert str(error.value) == (
        "c.yaml: measures: 'StRecall@10' needs judgements by subtopic, which task 'd' lacks; its dataset may state "
        "subtopics: true (formats trec, qrels)"
    )


def test_the_run_with_the_first_instructions_is_scored_with_that_of_the_changed_ones():
    datasets = BASE["datasets"] | {"other": CHANGED}
    experiment = resolved(datasets=datasets, tasks=["d", "other"], measures=["pMRR", "nDCG@10"])
    first = ["results/e/runs/d/bm25/seed-0.trec.gz", "results/e/data/d/qrels/test.qrels"]
    assert planning.original(experiment, "bm25", "other", "0") == first
    assert planning.original(experiment, "bm25", "d", "0") == []
    without = resolved(datasets=datasets, tasks=["d", "other"], measures=["nDCG@10"])
    assert planning.original(without, "bm25", "other", "0") == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"tasks": ["other"]}, "c.yaml: tasks: 'other' changes the instructions of d/test, which is not among the tasks"),
        ({"tasks": ["d"]}, "c.yaml: measures: 'pMRR' compares two tasks, and no dataset states changed_from: d (task 'd')"),
        ({"datasets/other/changed_from": "e"}, "c.yaml: datasets.other.changed_from: unknown name 'e'"),
        ({"systems/bm25": {"type": "bm25", "tune": True, "grid": {"measure": "pMRR"}}},
         "measure 'pMRR' needs the rankings of two tasks, so only `measures` may name it"),
    ],
)  # fmt: skip
def test_a_task_without_its_first_instructions_is_one_line(changes, said):
    base = {"datasets": BASE["datasets"] | {"other": CHANGED}, "tasks": ["d", "other"], "measures": ["pMRR"]}
    with refused(said):
        resolved(**base | changes)
