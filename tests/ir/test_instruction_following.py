"""p-MRR against the values that mteb's tests and the paper's formula give."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.measure_names import Original, p_mrr
from ranktrial.ir.measures import evaluate

RISING = {"q": {"0": 1.0, "1": 2.0, "2": 3.0, "3": 4.0}}  # 0 is last
FIRST = {"q": {"0": 4.0, "1": 1.0, "2": 2.0, "3": 3.0}}
BEFORE, NOW = {"q": {"0": 1, "1": 1, "2": 0}}, {"q": {"0": 0, "1": 1, "2": 0}}


@pytest.mark.parametrize(
    ("before", "now", "value"),
    [(RISING, RISING, 0.0), (RISING, FIRST, -0.75), (FIRST, RISING, 0.75), (FIRST, {"q": {"3": 1.0, "2": 0.5}}, 2 / 3),
     (FIRST, {}, 0.0), ({}, FIRST, 0.0)],
)  # fmt: skip
def test_a_document_that_falls_follows_the_instruction(before, now, value):
    found = evaluate(now, NOW, ["pMRR", "P@1"], original=Original(before, BEFORE))
    assert found.loc["q", "pMRR"] == pytest.approx(value)


def test_a_query_has_the_mean_of_the_documents_that_have_become_irrelevant():
    """Of 0 and 1, relevant before: 0 falls from rank 1 to 4, 1 rises from 4 to 3; 2 was not relevant before."""
    assert p_mrr(RISING, {"q": {"2": 0}}, Original(FIRST, BEFORE)) == {"q": pytest.approx((3 / 4 + 3 / 4 - 1) / 2)}


def test_without_an_original_a_ranking_is_compared_with_itself():
    assert evaluate(FIRST, NOW, ["pMRR"])["pMRR"].tolist() == [0.0]


def test_a_query_of_which_nothing_has_become_irrelevant_is_one_line():
    with pytest.raises(UserError, match=r"pMRR: query q has no value: no document is relevant to it with its first"):
        p_mrr(FIRST, BEFORE, Original(FIRST, BEFORE))
