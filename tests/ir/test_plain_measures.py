"""Measures that trec_eval computes in one pass: what ir-measures' providers give for the same rankings."""

import ir_measures
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import parse
from ranktrial.ir.measures import evaluate, is_plain, plain_values
from ranktrial.ir.trec import ranking
from tests.ir.test_measures import random_case

DEPTHS = (1, 2, 5, 39, 100)
BY_DEPTH = ("P", "R", "RR", "AP", "Success", "P(rel=2)", "R(rel=3)", "RR(rel=2)", "AP(rel=2)", "Success(rel=2)", "nDCG")
NAMES = ["AP", "RR", "Rprec", "nDCG", "AP(rel=2)", "RR(rel=3)", "Rprec(rel=2)"] + [
    f"{name}@{depth}" for name in BY_DEPTH for depth in DEPTHS
]


@pytest.mark.parametrize("seed", range(3))
def test_they_are_those_of_ir_measures_to_the_last_bit(seed):
    qrels, run = random_case(seed)
    shared = {query: scores for query, scores in run.items() if query in qrels}
    strict = {
        query: {document: float(-rank) for rank, document in enumerate(ranking(scores))}
        for query, scores in shared.items()
    }
    judged = {query: qrels[query] for query in shared}
    measures = [parse(name) for name in NAMES]
    assert all(map(is_plain, measures))
    values = plain_values(measures, shared, qrels)
    for measure in measures:
        expected = {one.query_id: one.value for one in ir_measures.iter_calc([measure], judged, strict)}
        assert values[measure] == expected, measure
        assert len(expected) == len(shared)


@pytest.mark.parametrize(
    "documents", [["z", "\u00e9", "\u00df", "\u65e5", "\U0001d49f", "a"], ["d10", "d9", "d", "D", "d1"]]
)
def test_ties_are_broken_as_the_ranking_breaks_them(documents):
    scores = dict.fromkeys(documents, 0.0) | {documents[0]: -0.0, documents[1]: 1e-46}  # 0 in 32 bits
    for rank, document in enumerate(ranking(scores), 1):
        assert plain_values([parse("RR")], {"q": scores}, {"q": {document: 1}})[parse("RR")] == {"q": 1 / rank}


@pytest.mark.parametrize(
    "name", ["Bpref", "AP(judged_only=True)", "nDCG(gains={1:2})@5", "nDCG(dcg='exp-log2')", "ERR@5"]
)
def test_other_measures_are_not_among_them(name):
    assert not is_plain(parse(name))


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 1e39])
def test_a_score_that_trec_eval_cannot_hold_is_refused(score):
    with pytest.raises(UserError, match=r"the score of document b is .*, not a finite number of 32 bits"):
        evaluate({"q": {"a": 1.0, "b": score}}, {"q": {"a": 1}}, ["P@5"])


def test_a_reciprocal_rank_is_cut_at_its_depth_and_not_beside_it():
    run = {"q": {f"d{number:04}": float(-number) for number in range(3000)}}
    for rank in (1, 3, 49, 1000, 2999, 3000):  # 49 * (1 / 49) is below 1
        qrels = {"q": {f"d{rank - 1:04}": 1}}
        values = evaluate(run, qrels, [f"RR@{rank}", f"RR@{rank - 1}"] if rank > 1 else ["RR@1"]).loc["q"]
        assert values.tolist() == [1 / rank, 0.0][: len(values)]


def test_grades_below_0_count_as_0_also_where_a_query_has_no_others():
    qrels, run = random_case(1)
    lowered = {query: {one: grade or -2 for one, grade in grades.items()} for query, grades in qrels.items()}
    qrels["none"], lowered["none"], run["none"] = {"a": 0, "b": 0}, {"a": -2, "b": -1}, {"a": 1.0, "c": 0.5}
    measures = [parse(name) for name in NAMES]
    assert plain_values(measures, run, lowered) == plain_values(measures, run, qrels)
