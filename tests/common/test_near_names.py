"""The name that was meant by an unknown one."""

from ranktrial.common.wording import closest, hint, near


def test_the_closest_name_is_asked_for_whatever_its_case():
    known = ["bm25", "BM25-RM3", "tuned"]
    assert near("bm52", known) == "did you mean 'bm25'?" and near("TUNED", known) == "did you mean 'tuned'?"
    assert closest("bm25-rm", known, most=2) == ["BM25-RM3", "bm25"]


def test_a_name_that_is_close_to_none_has_no_hint():
    assert near("x", ["bm25"]) == hint("x", ["bm25"]) == hint("x", []) == ""
    assert hint("tunde", ["tuned"]) == " (did you mean 'tuned'?)"
