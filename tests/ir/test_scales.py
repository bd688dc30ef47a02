"""Values of two systems on scales that differ by a hundred are refused; systems that merely differ are not."""

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.scores import check_scales


@pytest.mark.parametrize(
    ("first", "second", "measure"),
    [
        ([0, 1, 1], [100, 0, 100], "accuracy"),
        ([0.41, 0.52], [43.2, 50.1], "nDCG@10"),
        ([0.9, 0.95], [35.0, 40.0], "F1"),
        ([0.2, 0.1], [61.0, 72.0], "score"),
    ],
)
def test_fractions_beside_percentages_are_refused_in_both_orders(first, second, measure):
    for one, other in (("a", "b"), ("b", "a")):
        with pytest.raises(UserError, match=r"task t: the values of a are at most .*fractions and percentages"):
            check_scales({one: first if one == "a" else second, other: second if one == "a" else first}, "t", measure)


@pytest.mark.parametrize(
    ("first", "second", "measure"),
    [
        ([0, 0, 0.01], [1, 1, 1], "accuracy"),
        ([0.5, 0.5], [1.5, 1.2], "loss"),
        ([0, 0], [50, 60], "accuracy"),
        ([-0.5, 0.5], [50, 60], "gain"),
        ([0.5, 1], [300, 400], "perplexity"),
        ([0, 1], [30, 40], "NumRet(rel=1)"),
        ([41, 52], [43.2, 50.1], "nDCG@10"),
    ],
)
def test_one_scale_is_not_doubted(first, second, measure):
    check_scales({"a": first, "b": second}, "t", measure)
    check_scales({"b": second, "a": first}, "t", measure)
