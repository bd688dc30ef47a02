"""Scoring and the table of means: which queries count, what is reported, full precision."""

import pandas as pd
import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.tables import read_metrics
from ranktrial.ir.means import means_rows
from ranktrial.ir.runs import known_zero_runs, zero_runs
from ranktrial.ir.trec import read_run, write_qrels, write_run
from scripts.evaluation.imports import take_over
from scripts.evaluation.score import write_scores
from scripts.evaluation.tables import means


@pytest.fixture
def files(tmp_path):
    write_qrels(tmp_path / "qrels", {"q1": {"d1": 1}, "q2": {"d2": 1}, "NA": {"d3": 1}})
    write_run(tmp_path / "run", {"q1": {"d1": 1.0}, "NA": {"d3": 1.0, "d1": 3.0, "d2": 2.0}, "other": {"d1": 1.0}}, "t")
    return tmp_path


def test_missing_queries_score_0_and_both_kinds_of_oddity_are_said(files):
    said = write_scores(files / "run", files / "qrels", files / "metrics.tsv", ["RR", "P@1"])
    assert said == ["1 of 3 judged queries are not in the run and score 0",
                    "1 queries of the run are not judged and are ignored"]  # fmt: skip
    table = read_metrics(files / "metrics.tsv")
    assert table["RR"].to_dict() == {"q1": 1.0, "q2": 0.0, "NA": 1 / 3}  # 1/3 to the last digit; a query called NA


def test_documents_of_equal_score_may_be_in_ascending_order_of_their_ids(tmp_path):
    """Ids are compared as bytes (10 before 9), scores as 32-bit floats; what does not tie keeps its place."""
    scores = {"9": 1.0, "10": 1.0 + 1e-9, "é": 1.0, "top": 2.0, "low": 0.5}
    write_run(tmp_path / "run", {"q": scores}, "t")
    for relevant, descending, ascending in (("10", 4, 2), ("9", 3, 3), ("é", 2, 4), ("top", 1, 1), ("low", 5, 5)):
        write_qrels(tmp_path / "qrels", {"q": {relevant: 1}})
        for ties, rank in (("descending", descending), ("ascending", ascending)):
            write_scores(tmp_path / "run", tmp_path / "qrels", tmp_path / "metrics.tsv", ["RR"], ties)
            assert read_metrics(tmp_path / "metrics.tsv")["RR"]["q"] == pytest.approx(1 / rank)


def test_a_run_of_another_task_is_refused(files):
    write_run(files / "alien", {"x": {"d1": 1.0}}, "t")
    with pytest.raises(UserError, match="none of its 1 queries"):
        write_scores(files / "alien", files / "qrels", files / "metrics.tsv", ["RR"])
    with pytest.raises(UserError, match="none of its 1 queries is in the task's qrels"):
        take_over(files / "alien", files / "qrels", files / "out.trec", 10, "t")
    assert not (files / "metrics.tsv").exists() and not (files / "out.trec").exists()


def test_a_split_without_judgements_is_refused(files):
    (files / "empty").write_text("")
    with pytest.raises(UserError, match="no judged query"):
        write_scores(files / "run", files / "empty", files / "metrics.tsv", ["RR"])


def test_an_imported_run_is_cut_at_depth_in_trec_evals_order(files):
    write_run(files / "theirs", {"q1": {f"d{n}": 1.0 for n in range(9)}}, "t")
    take_over(files / "theirs", files / "qrels", files / "ours.trec", 3, "theirs")
    assert list(read_run(files / "ours.trec")["q1"]) == ["d8", "d7", "d6"]


def test_means_over_queries_and_their_sd_over_seeds(tmp_path):
    for seed, values in ((1, [0.0, 1.0]), (2, [1.0, 1.0]), (0, [0.5, 0.0])):
        path = tmp_path / "metrics" / "task" / ("tuned" if seed else "bm25") / f"seed-{seed}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame({"query_id": ["a", "b"], "P@1": values}).to_csv(path, sep="\t", index=False)
    table = means(sorted(tmp_path.rglob("*.tsv"))).set_index("system")
    assert table.loc["tuned", "P@1"] == 0.75 and table.loc["tuned", "P@1 sd"] == pytest.approx(0.125**0.5)
    assert table.loc["bm25", "P@1"] == 0.25 and pd.isna(table.loc["bm25", "P@1 sd"])
    assert table["seeds"].to_dict() == {"bm25": 1, "tuned": 2} and (table["queries"] == 2).all()


def test_an_imported_run_is_without_what_is_excluded_before_the_cut(files):
    write_run(files / "theirs", {query: {f"d{n}": float(9 - n) for n in range(9)} for query in ("q1", "q2")}, "t")
    given = files / "theirs", files / "qrels", files / "ours.trec", 3, "theirs", None
    assert take_over(*given, {"q1": {"d0", "d2", "d8", "gone"}, "q3": {"d1"}}) == [
        "3 documents that are excluded for their query are left out"
    ]
    run = read_run(files / "ours.trec")
    assert {query: list(scores) for query, scores in run.items()} == {
        "q1": ["d1", "d3", "d4"],
        "q2": ["d0", "d1", "d2"],
    }


def test_measures_that_look_deeper_than_an_external_run_are_named(files):
    write_run(files / "short", {query: {"d0": 3.0, "d1": 2.0} for query in ("q1", "q2", "NA")}, "t")
    given = files / "short", files / "qrels", files / "metrics.tsv", ["nDCG@2", "P@5", "R@100", "Judged@10"]
    expected = "warning: has at most 2 documents per query, fewer than P@5 or R@100 counts"
    assert write_scores(*given, external=True) == [expected] and write_scores(*given) == []


def test_a_run_of_which_no_document_is_judged_is_reported_once_when_it_comes_or_when_it_is_scored(files):
    write_run(files / "ids", {"q1": {"DOC-1": 2.0, "DOC-2": 1.0}, "q2": {"d1": 1.0}}, "t")
    expected = (
        "warning: none of its documents, such as DOC-1, is judged, so it scores 0 everywhere; the judgements "
        "name documents such as d1"
    )
    said = write_scores(files / "ids", files / "qrels", files / "metrics.tsv", ["RR", "Judged@10"])
    assert said[0] == expected and not read_metrics(files / "metrics.tsv").to_numpy().any()
    assert take_over(files / "ids", files / "qrels", files / "out.trec", 10, "t") == [expected]
    assert write_scores(files / "ids", files / "qrels", files / "metrics.tsv", ["RR"], external=True)[0] != expected
    write_run(files / "one", {"q1": {"DOC-1": 2.0, "d1": 1.0}}, "t")
    assert not any("warning" in one for one in write_scores(files / "one", files / "qrels", files / "m.tsv", ["RR"]))
    cut = take_over(
        files / "one", files / "qrels", files / "out.trec", 1, "t"
    )  # its judged document is beyond the depth
    assert cut == [expected]


def test_runs_that_score_0_everywhere_are_found_in_the_table_of_means(tmp_path):
    rows = [
        {"task": "d", "system": "theirs", "queries": 3, "seeds": 1, "nDCG@10": 0.0, "nDCG@10 sd": None, "NumRet": 30.0},
        {"task": "d", "system": "bm25", "queries": 3, "seeds": 1, "nDCG@10": 0.1, "nDCG@10 sd": 0.0, "NumRet": 30.0},
        {
            "task": "rte",
            "system": "theirs",
            "queries": 3,
            "seeds": 1,
            "nDCG@10": None,
            "nDCG@10 sd": None,
            "NumRet": None,
        },
    ]
    table = pd.DataFrame(rows)
    assert zero_runs(means_rows(table)) == [("d", "theirs")]
    table.to_csv(tmp_path / "means.tsv", sep="\t", index=False)
    (said,) = known_zero_runs(tmp_path / "means.tsv")
    assert said.startswith("theirs scores 0 by every measure on every query of d: most likely none of its documents is")
    assert known_zero_runs(tmp_path / "none.tsv") == []
