"""Runs of three columns, as MS MARCO's: the ranks decide the order, and scores in their place are refused."""

import pytest

from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import ranking, read_run
from tests.support.one_line import refused


def written(folder, content):
    path = folder / "run.tsv"
    path.write_text(content)
    return path


def test_documents_are_in_the_order_of_their_ranks_whatever_that_of_the_lines(tmp_path):
    run = read_run(written(tmp_path, "q1\td9\t2\nq1\td1\t1\nq1\td5\t7\nq2 d1 1\n"))
    assert ranking(run["q1"]) == ["d1", "d9", "d5"] and ranking(run["q2"]) == ["d1"]
    table = evaluate(run, {"q1": {"d9": 1}, "q2": {"d1": 1}}, ["RR@10", "R@2"])
    assert table["RR@10"].tolist() == [0.5, 1.0] and table["R@2"].tolist() == [1.0, 1.0]


def test_deep_ranks_are_reported_apart_in_32_bits(tmp_path):
    run = read_run(written(tmp_path, "".join(f"q\td{rank}\t{rank}\n" for rank in range(1, 5001))))
    assert ranking(run["q"]) == [f"d{rank}" for rank in range(1, 5001)]


REFUSED = {
    "scores": ("q1 d1 0.5\n", ":1: '0.5' is not a rank from 1; a run of three columns is qid docid rank"),
    "a heading": ("qid docid rank\n", ":1: 'rank' is not a rank from 1"),
    "from 0": ("q1 d1 0\nq1 d2 1\n", ":1: '0' is not a rank from 1"),
    "whole scores": ("q1 d1 9\nq1 d2 7\n", ": the ranks of query q1 do not begin at 1, or two are the same"),
    "two of one rank": ("q1 d1 1\nq1 d2 1\n", ": the ranks of query q1 do not begin at 1, or two are the same"),
    "scores down to 1": ("q1 d1 3\nq1 d2 1\nq2 d1 1\n", ": the last column falls from line to line in every query"),
    "a document twice": ("q1 d1 1\nq1 d1 2\n", ":2: duplicate document d1 for query q1"),
    "then four": ("q1 d1 1\nq1 d2 2 0.5\n", ":2: 4 columns, but the lines above have 3"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_may_be_scores_is_refused(tmp_path, case):
    content, said = REFUSED[case]
    path = written(tmp_path, content)
    with refused(start=f"{path}{said}"):
        read_run(path)
