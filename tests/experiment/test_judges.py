"""Datasets that a language model judges: what is asked and planned, which tasks a comparison takes, and what is refused."""

import pytest

from ranktrial.experiment.judged import family
from scripts.datasets import planning as datasets
from scripts.inference import planning
from scripts.reports import planning as pages
from scripts.synthesis.planning import comparison_inputs, comparison_settings
from tests.experiment.test_config import resolved as of_base
from tests.support.one_line import refused

ENDPOINT = {"url": "https://api.example.org/v1", "model": "gpt-4o", "price": {"input": 1, "output": 2}}
JUDGE = {"endpoint": ENDPOINT, "of": ["bm25", "tuned"], "humans": "sample", "human_queries": 50}
JUDGED = {"format": "judge", "runs_of": "d", "judge": JUDGE}
TASKS = {"datasets/j": JUDGED, "tasks": ["d", "j"]}
LISTWISE = {
    "type": "listwise",
    "rerank": {"first_stage": "bm25", "depth": 10},
    "endpoint": {"url": "https://other.example.org/v1", "model": "openai/GPT-5-mini"},
}


def resolved(**changes):
    return of_base(TASKS | changes)


def judged(**changes):
    judge = {key: value for key, value in (JUDGE | changes).items() if value is not ...}
    return JUDGED | {"judge": judge}


def test_the_job_gets_the_texts_the_runs_and_how_to_ask():
    experiment = resolved()
    found = planning.judge_inputs(experiment, "j")
    assert found["corpus"] == "results/e/data/d/corpus.jsonl" and found["known"] == []
    assert found["queries"] == "results/e/data/d/queries/test.jsonl"
    assert found["runs"][0] == "results/e/runs/d/bm25/seed-0.trec.gz" and len(found["runs"]) == 3
    said = planning.judge_settings(experiment, "j")
    assert (said["model"], said["key"], said["depth"], said["split"]) == ("gpt-4o", "OPENAI_API_KEY", 10, "test")
    assert said["price"] == {"input": 1, "output": 2}
    holes = resolved(**{"datasets/j": {**JUDGED, "judge": {"endpoint": ENDPOINT, "of": ["bm25"], "fill": "holes"}}})
    assert planning.judge_inputs(holes, "j")["known"] == "results/e/data/d/qrels/test.qrels"


def test_nothing_is_fetched_or_prepared_for_it_and_its_counts_are_those_of_a_dataset():
    experiment = resolved()
    assert datasets.judgements_only(experiment) == [] and "j" not in datasets.whole(experiment)
    assert "results/e/data/j/statistics.json" in datasets.statistics(experiment)
    assert pages.judge_tables(experiment) == [f"results/e/tables/judges/j.{ending}" for ending in ("md", "tsv")]


def test_a_comparison_takes_judged_tasks_only_where_it_names_them():
    assert resolved().comparisons["c"].tasks == ("d",)
    named = resolved(**{"comparisons/c/tasks": ["j"]})
    assert named.comparisons["c"].tasks == ("j",)
    settings = comparison_settings(named, "c")
    assert settings["judged"] == {"j": {"model": "gpt-4o", "humans": "d", "queries": 50}}
    assert settings["qrels"] == {
        "j": "results/e/data/d/qrels/test.qrels"
    }  # humans' judgements say which queries cluster
    read = comparison_inputs(named, "c")
    assert read["control"] == ["results/e/metrics/j/bm25/seed-0.tsv", "results/e/metrics/d/bm25/seed-0.tsv"]
    assert len(read["treatment"]) == 4


def test_a_ranker_of_the_judges_family_is_named():
    ranked = {
        "systems/listwise": LISTWISE,
        "comparisons/c": {"control": "bm25", "treatment": "listwise", "tasks": ["j"]},
    }
    assert comparison_settings(resolved(**ranked), "c")["judged"]["j"]["relatives"] == ["openai/GPT-5-mini"]
    assert family("Qwen/Qwen3-Reranker-8B") == family("qwen2.5-72b") == "qwen"
    assert family("meta-llama/Llama-3.1-8B") == "llama" and family("gpt-4o") != family("claude-5")


def test_without_human_queries_no_metrics_of_humans_are_read():
    alone = resolved(
        **{"datasets/j": {**JUDGED, "judge": {"endpoint": ENDPOINT, "of": ["bm25"]}}, "comparisons/c/tasks": ["j"]}
    )
    assert comparison_settings(alone, "c")["judged"] == {"j": {"model": "gpt-4o"}}
    assert comparison_inputs(alone, "c")["control"] == ["results/e/metrics/j/bm25/seed-0.tsv"]


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"datasets/j": {"format": "judge", "runs_of": "d"}}, "datasets.j.judge", "is missing"),
        ({"datasets/j": {"format": "judge", "judge": JUDGE}}, "datasets.j.runs_of", "is missing"),
        ({"datasets/j": judged(of=["bm52"])}, "datasets.j.judge.of", "bm52"),
        ({"datasets/j": judged(humans="chosen", human_queries=...)}, "datasets.j.judge.humans", "chosen is only valid with probabilities"),
        ({"datasets/j": judged(humans="chosen", human_queries=..., probabilities="none.tsv")},
         "datasets.j.judge.probabilities", "no file 'none.tsv'"),
        ({"datasets/j": judged(probabilities="README.md")}, "datasets.j.judge.probabilities", "only valid with humans: chosen"),
        ({"datasets/j": judged(fill="holes")}, "datasets.j.judge.humans", "only valid with fill: pool"),
        ({"datasets/j": {**JUDGED, "judge": {"endpoint": ENDPOINT, "of": ["bm25"], "human_queries": 9}}},
         "datasets.j.judge.human_queries", "only valid with humans: sample"),
        ({"datasets/j": judged(endpoint={**ENDPOINT, "key": "sk-123"})}, "datasets.j.judge.endpoint.key", "never the key"),
        ({"datasets/j": {**JUDGED, "location": "data"}}, "datasets.j", "cannot have 'location'"),
        ({"datasets/j": judged(split="dev")}, "tasks: j", "no judgements for the split test"),
        ({"comparisons/c/tasks": ["d", "j"]}, "comparisons.c.tasks", "have the same queries"),
        ({"comparisons/c/tasks": ["j"], "comparisons/c/effect": "SMD"}, "comparisons.c.effect", "expected MD"),
        ({"multiple_comparisons": {"m": {"systems": ["bm25", "tuned"], "tasks": ["j"]}}}, "multiple_comparisons.m.tasks",
         "a language model judges 'j'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line(changes, key, problem):
    with refused(key, problem):
        resolved(**changes)
