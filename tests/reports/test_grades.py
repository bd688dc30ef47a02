"""What grades count for: said where there are several above 0, by the parameters of each measure."""

import ir_measures
import pandas as pd

from ranktrial.reports.contents.data import graded

TABLE = pd.DataFrame({"dataset": ["a", "b", "b", "c"], "split": ["test", "train", "test", "test"],
                      "grades": ["0, 1", "0, 1, 2", "-2, 0, 1, 3", "1, 2"]})  # fmt: skip


def test_grades_are_named_with_their_gains():
    assert graded(TABLE, ["nDCG@10", "nDCG(dcg='exp-log2')@5", "AP(rel=2)@5", "RR@10", "of my own"]) == (
        "Grades of b: -2, 0, 1, 3; c: 1, 2. The gain of a document is the grade (nDCG@10); 2^grade \u2212 1 (nDCG(dcg='exp-log2')@5); "
        "1 for grades from 2 on, otherwise 0 (AP(rel=2)@5); 1 for grades from 1 on, otherwise 0 (RR@10)."
    )


def test_judgements_of_two_grades_need_no_sentence():
    assert graded(TABLE[:2], ["nDCG@10"]) == "" and graded(TABLE[:0], ["nDCG@10"]) == ""


def test_the_gains_are_those_of_the_measures():
    """A run with one document of grade 3 at the top and one of grade 1 below: the ratio of gains is 3, of 2^g - 1 it is 7."""
    qrels, run = {"1": {"x": 3, "y": 1}}, {"1": {"y": 2.0, "x": 1.0}}
    discount = 1 / 1.584962500721156  # log2(3)
    for name, gain in (("nDCG@10", 3), ("nDCG(dcg='exp-log2')@10", 7)):
        measure = ir_measures.parse_measure(name)
        expected = (1 + gain * discount) / (gain + discount)
        assert abs(ir_measures.calc_aggregate([measure], qrels, run)[measure] - expected) < 1e-4
