"""Judging by a language model through the script itself, by a server that answers: grades, holes, answers kept, mistakes."""

import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.inference.grading import grade_of
from ranktrial.ir.collection import Document, write_corpus, write_queries
from ranktrial.ir.trec import read_qrels, write_qrels, write_run
from scripts.inference import judge as script
from tests.support.answering import answering, error, graded, said
from tests.support.calling import call
from tests.support.one_line import refused

TEXTS = {"d1": "ash elm fig", "d2": "ash elm", "d3": "ash", "d4": "oak", "d5": "yew"}
QUERIES = {"q1": "ash elm fig", "q2": "oak yew", "q3": "fig"}
SPLITS = ("train", "dev", "test")


@pytest.fixture
def task(tmp_path):
    """Five documents and two runs; nothing is found for q3."""
    write_corpus(tmp_path / "corpus.jsonl", [Document(name, "", text) for name, text in TEXTS.items()])
    write_queries(tmp_path / "queries.jsonl", QUERIES)
    write_run(tmp_path / "a.trec.gz", {"q1": {"d3": 3.0, "d2": 2.0, "d1": 1.0}, "q2": {"d4": 1.0}}, "a")
    write_run(tmp_path / "b.trec.gz", {"q1": {"d1": 3.0, "d3": 2.0, "d5": 1.0}, "q2": {"d5": 1.0}}, "b")
    return tmp_path


def judge(task, url, known=(), **changes):
    """Run the script; gives the judgements of test, the answers and the timing."""
    settings = {"url": url, "model": "m", "split": "test", "depth": 2, "max_words": 50} | changes
    paths = {
        **{"corpus": task / "corpus.jsonl", "queries": task / "queries.jsonl"},
        **{"runs": [task / "a.trec.gz", task / "b.trec.gz"], "known": list(known)},
        **{"qrels": [task / f"{split}.qrels" for split in SPLITS], "statistics": task / "statistics.json"},
        **{"answers": task / "answers.jsonl.gz", "timing": task / "timing.json"},
    }
    call(script.judge, settings, **paths)
    answers = [json.loads(line) for _, line in lines(task / "answers.jsonl.gz")]
    return read_qrels(task / "test.qrels"), answers, json.loads((task / "timing.json").read_text())


def test_the_best_documents_of_each_run_are_graded_once(task):
    with answering(graded) as asked:
        qrels, answers, timing = judge(task, asked.url, price={"input": 2, "output": 10})
    assert qrels == {"q1": {"d3": 1, "d2": 2, "d1": 3}, "q2": {"d4": 2, "d5": 2}}
    assert read_qrels(task / "train.qrels") == read_qrels(task / "dev.qrels") == {}
    assert len(asked.requests) == timing["calls"] == timing["documents"] == 5
    assert timing["cost"] == pytest.approx(5 * (100 * 2 + 10 * 10) / 1e6) and timing["unreadable"] == 0
    assert timing["grades"] == {"1": 1, "2": 3, "3": 1}
    assert [(one["query"], one["document"], one["grade"]) for one in answers][:2] == [("q1", "d3", 1), ("q1", "d2", 2)]
    counts = json.loads((task / "statistics.json").read_text())["splits"]["test"]
    assert (counts["queries"], counts["judgements"], counts["relevant"]) == (2, 5, 5)


def test_lower_grades_can_count_as_not_relevant(task):
    with answering(graded) as asked:
        qrels, answers, _ = judge(task, asked.url, relevant_from=2)
    assert qrels["q1"] == {"d3": 0, "d2": 2, "d1": 3} and answers[0]["grade"] == 1


def test_holes_keep_what_humans_judged(task):
    write_qrels(task / "known.qrels", {"q1": {"d1": 0, "d3": -1, "d9": 1}, "q2": {"d4": 1, "d5": 0}, "q3": {"d1": 1}})
    with answering(graded) as asked:
        qrels, *_ = judge(task, asked.url, [task / "known.qrels"])
    assert len(asked.requests) == 2
    assert qrels == {"q1": {"d1": 0, "d9": 1, "d3": 1, "d2": 2}, "q2": {"d4": 1, "d5": 0}, "q3": {"d1": 1}}


def test_an_answer_without_a_grade_is_counted_kept_and_never_guessed(task):
    def sometimes(request):
        return said("It depends.") if "ash elm fig" in request["messages"][-1]["content"][-80:] else graded(request)

    with answering(sometimes) as asked:
        qrels, answers, timing = judge(task, asked.url)
        unread = [one for one in answers if one["grade"] is None]
        assert timing["unreadable"] == len(unread) == 1 and unread[0]["answer"] == "It depends."
        assert "d1" not in qrels["q1"] and len(qrels["q1"]) == 2
        calls = len(asked.requests)
        again = judge(task, asked.url)
        assert len(asked.requests) == calls and again[0] == qrels and again[2]["cached_calls"] == 5
    with answering(lambda request: said("No.")) as asked, refused("none of the 5 answers of m contains a grade"):
        judge(task, asked.url)


def test_a_job_that_ends_midway_goes_on(task):
    left = [2]

    def so_many(request):
        left[0] -= 1
        return graded(request) if left[0] >= 0 else error(401)

    with answering(so_many) as asked:
        with pytest.raises(UserError, match="refuses access"):
            judge(task, asked.url, concurrency=1)
        assert not (task / "test.qrels").exists()
        left[0] = 3
        _, _, timing = judge(task, asked.url, concurrency=1)
    assert timing["cached_calls"] == 2 and timing["calls"] == 5


@pytest.mark.parametrize(
    ("answer", "grade"),
    [("2", 2), ("final grade: 3", 3), ("**Final grade:** 1.", 1), ("The score could be 1.\nfinal grade: 0", 0),
     ("##final score: 2", 2), (" 3. ", 3), ("final grade: 2.0", 2), ("final grade: 2.5", None), ("final grade: 4", None),
     ("", None), ("two", None), ("I give it 2 of 3", None), ("7", None), ("final grade: -1", None),
     ("-1", None), ("final grade: 2-3", None), ("grade: 1 or 2", None), ("final grade: 1e9", None),
     ("<think>... at first a grade 1. But it answers fully.</think>\n\n3", 3), ("grade: 1.</think>final grade: 2", 2),
     ("<think>\nscore 0 means unrelated, grade 3 means perfect. Let me see", None),
     ("<think>grade: 1 would be on topic</think> I cannot grade this.", None),
     ("final grade: 2\n\nThe scale: grade 3 would need a full answer.", 2), ("The final grade is 2.", 2),
     ("Final grade is: 2", 2), ("final grade: 2\n- 3 reasons", 2), ("final grade: 1\nNo, final grade: 2", 2),
     ("final grade is between 2 and 3", None), ("Its grade is 1", 1), ("grade of 2", None)],
)  # fmt: skip
def test_only_a_stated_grade_of_the_scale_counts(answer, grade):
    assert grade_of(answer) == grade
