"""Choosing on dev: ties, judged queries, the table of candidates, and the warning about few queries."""

import itertools

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir import choosing


def test_the_first_of_equal_candidates_wins_also_if_rounding_tells_them_apart():
    assert choosing.best([0.3, 0.1 + 0.2, 0.2], float) == 0.3  # 0.1 + 0.2 > 0.3 in floating point
    tried = sorted(itertools.product((0.6, 0.9), (0.2, 0.4)))
    assert choosing.best(tried, lambda one: {(0.6, 0.4): 0.5, (0.9, 0.2): 0.5}.get(one, 0.4)) == (0.6, 0.4)
    assert choosing.best([1.0, 1.0 + 1e-9], float) > 1.0


def test_queries_without_a_relevant_document_do_not_decide():
    qrels = {"q1": {"a": 0, "b": 2}, "q2": {"a": 0}, "q3": {"a": -1}}
    assert choosing.judged(qrels, "none") == {"q1": {"a": 0, "b": 2}}
    with pytest.raises(
        UserError, match=r"^dev.qrels: no judged dev query .* \(splits: \{dev: 0.1\}\), or the system w "
    ):
        choosing.judged({"q2": {"a": 0}}, choosing.NO_DEV.format("dev.qrels", "w"))
    assert choosing.judged({}) == {}


def test_a_mean_is_over_all_judged_queries():
    assert choosing.mean({"q1": {"a": 1.0}}, {"q1": {"a": 1}, "q2": {"a": 1}}, "RR") == 0.5


def test_the_table_has_empty_cells_for_what_a_candidate_lacks(tmp_path):
    choosing.write_rows(tmp_path / "t", ["trees", "kept", "RR"], [[3, None, 0.1 + 0.2], [None, 2, 1.0]])
    assert (tmp_path / "t").read_text() == "trees\tkept\tRR\n3\t\t0.30000000000000004\n\t2\t1.0\n"


def test_a_choice_by_few_queries_is_reported_with_a_warning(capsys):
    choosing.report("k1=0.9", "x.json", 10)
    choosing.report("seed 2", "s", 1, "test", "chosen")
    assert capsys.readouterr().err.splitlines() == [
        "k1=0.9",
        "seed 2",
        "s: warning: chosen on 1 test query: with fewer than 10, the choice may be due to chance; use a larger test "
        "split",
    ]
