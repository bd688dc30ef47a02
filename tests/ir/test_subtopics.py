"""Judgements by subtopic: their file, and their measures against the formulas of the papers and ndeval itself."""

import math
import random

import ir_measures
import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import BY_SUBTOPIC
from ranktrial.ir.measures import evaluate
from ranktrial.ir.trec import over_subtopics, read_qrels, read_subtopics, write_qrels

SUBTOPICS = {"1": {"q": {"a": 1, "c": 1, "n": 0}}, "2": {"q": {"b": 1, "a": 0}}, "3": {"q": {"e": 2, "n": -2}}}
RUN = {"q": {"a": 5.0, "c": 4.0, "u": 3.0, "b": 2.0}}
DISCOUNT = [1 / math.log2(1 + rank) for rank in range(1, 6)]


def value(name, run=None, subtopics=None):
    subtopics = subtopics or SUBTOPICS
    return evaluate(run or RUN, over_subtopics(subtopics), [name], subtopics).loc["q", name]


def test_measures_by_subtopic_by_hand():
    """a and c are of subtopic 1, b of 2, e of 3 and not retrieved. Clarke et al. (2008), equations 1 to 6, alpha 0.5."""
    dcg = DISCOUNT[0] + 0.5 * DISCOUNT[1] + DISCOUNT[3]
    ideal = sum(DISCOUNT[:3]) + 0.5 * DISCOUNT[3]  # a document of each subtopic, then the second of 1
    assert value("alpha_nDCG@5") == pytest.approx(dcg / ideal)
    assert value("alpha_nDCG(alpha=0.0)@5") == pytest.approx((sum(DISCOUNT[:2]) + DISCOUNT[3]) / sum(DISCOUNT[:4]))
    assert value("StRecall@3") == pytest.approx(1 / 3) and value("StRecall@4") == pytest.approx(2 / 3)
    assert value("P_IA@4") == pytest.approx((2 / 4 + 1 / 4) / 3)  # the mean precision of the subtopics
    best = sum(0.5 ** (rank - 1) / rank for rank in range(1, 6))  # ndeval: of one subtopic, relevant throughout
    assert value("ERR_IA@5") == pytest.approx((1 + 0.5 / 2 + 1 / 4) / 3 / best)
    assert value("StRecall(rel=2)@4") == 0
    condensed = DISCOUNT[0] + 0.5 * DISCOUNT[1] + DISCOUNT[2]
    assert value("alpha_nDCG(judged_only=True)@5") == pytest.approx(condensed / ideal)


@pytest.mark.parametrize("name", ["alpha_nDCG@10", "alpha_DCG@5", "ERR_IA@20", "nERR_IA@5", "NRBP", "nNRBP", "AP_IA",
                                  "P_IA@5", "StRecall@10"])  # fmt: skip
def test_values_are_those_of_ndeval(name):
    rng = random.Random(name)
    documents = [f"d{number}" for number in range(40)]
    queries = [f"q{number}" for number in range(10)]
    subtopics = {str(one): {query: {document: rng.randrange(-1, 3) for document in rng.sample(documents, 8)}
                            for query in queries} for one in range(4)}  # fmt: skip
    run = {query: {one: rng.random() for one in rng.sample(documents, 25)} for query in queries[1:]}
    theirs = [ir_measures.Qrel(query, document, grade, one) for one, qrels in subtopics.items()
              for query, judged in qrels.items() for document, grade in judged.items()]  # fmt: skip
    expected = {
        one.query_id: one.value
        for one in ir_measures.pyndeval.iter_calc([ir_measures.parse_measure(name)], theirs, run)
    }
    ours = evaluate(run, over_subtopics(subtopics), [name, "nDCG@5"], subtopics)
    assert ours[name].to_dict() == pytest.approx({"q0": 0.0} | expected)
    assert len({*expected.values()}) > 2
    assert ours["nDCG@5"].tolist() == evaluate(run, over_subtopics(subtopics), ["nDCG@5"])["nDCG@5"].tolist()


@pytest.mark.parametrize("name", BY_SUBTOPIC)
def test_a_query_without_relevant_documents_has_the_value_0(name):
    name += "" if name in ("NRBP", "nNRBP", "AP_IA") else "@5"
    assert value(name, subtopics={"1": {"q": {"a": 0}}, "2": {"q": {"b": -2}}}) == 0
    assert value(name, run={"other": {"a": 1.0}}) == 0


def test_a_file_holds_all_subtopics_and_is_read_as_judgements_too(tmp_path):
    qrels = over_subtopics(SUBTOPICS)
    assert qrels == {"q": {"a": 1, "c": 1, "n": 0, "b": 1, "e": 2}}
    write_qrels(tmp_path / "q.qrels", qrels, SUBTOPICS)
    assert read_subtopics(tmp_path / "q.qrels") == SUBTOPICS and read_qrels(tmp_path / "q.qrels") == qrels
    write_qrels(tmp_path / "fewer.qrels", {"q": {"a": 1}}, SUBTOPICS)
    assert (tmp_path / "fewer.qrels").read_text() == "q 1 a 1\nq 2 a 0\n"
    (tmp_path / "twice.qrels").write_text("q 1 a 1\nq 2 a 0\nq 1 a 0\n")
    with pytest.raises(UserError, match=r"twice.qrels:3: document a is judged 0 for query q, earlier 1"):
        read_subtopics(tmp_path / "twice.qrels")
