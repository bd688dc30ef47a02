"""Judgements of another dataset's runs: those of queries without runs are left out, and counted."""

import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import write_queries
from ranktrial.ir.trec import read_qrels
from scripts.datasets import prepare as script
from tests.support.one_line import refused


def prepared(tmp_path, judged, queries):
    (tmp_path / "q.txt").write_text("".join(f"{query} 0 d1 1\n" for query in judged))
    files = [tmp_path / "of" / f"{split}.jsonl" for split in ("train", "dev", "test")]
    for file in files:
        write_queries(file, dict.fromkeys(queries if file.stem == "test" else ["other"], "text"))
    settings = script.Settings(source=str(tmp_path / "q.txt"), format="qrels", seed=1)
    odd = script.prepare(tmp_path / "out", settings, script.Files(ranked_queries=files))
    return odd, read_qrels(tmp_path / "out/qrels/test.qrels")


def test_judgements_of_ranked_queries_are_kept_whole(tmp_path):
    odd, qrels = prepared(tmp_path, ["1", "2"], ["2", "1", "3"])
    assert odd == [] and qrels == {"1": {"d1": 1}, "2": {"d1": 1}}


def test_a_query_without_runs_is_left_out_and_reported(tmp_path):
    odd, qrels = prepared(tmp_path, ["1", "2", "other"], ["1"])
    assert odd == ["warning: test: 2 judged queries have no runs (runs_of) and are left out"]
    assert qrels == {"1": {"d1": 1}}
    assert json.loads((tmp_path / "out/statistics.json").read_text())["splits"]["test"]["queries"] == 1


def test_judgements_of_other_queries_alone_are_one_line_that_leaves_nothing(tmp_path):
    with pytest.raises(UserError) as error:
        prepared(tmp_path, ["7"], ["1"])
    assert str(error.value) == (
        "test: none of 1 judged queries is among those of test of the dataset in runs_of, such as 7"
    )
    assert not (tmp_path / "out").exists()


def test_judgements_by_subtopic_keep_their_subtopics_and_grades_are_mapped_in_each(tmp_path):
    (tmp_path / "q.txt").write_text("1 a d1 1\n1 b d1 2\n1 b d2 0\n2 a d1 1\n")
    settings = script.Settings(
        source=str(tmp_path / "q.txt"),
        format="qrels",
        seed=1,
        options={"subtopics": True},
        grades={"0": 0, "1": 1, "2": 0},
    )
    script.prepare(tmp_path / "out", settings)
    assert (tmp_path / "out/qrels/test.qrels").read_text() == "1 a d1 1\n1 b d1 0\n1 b d2 0\n2 a d1 1\n"
    assert read_qrels(tmp_path / "out/qrels/test.qrels") == {"1": {"d1": 1, "d2": 0}, "2": {"d1": 1}}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            "1 0 d1 1\n2 0 d1 1\n",
            "all judgements are of the subtopic 0, but with subtopics: true a file of judgements has 4",
        ),
        ("1\td1\t1\n", ":1: 3 columns, but with subtopics: true a file of judgements has 4 (qid subtopic docid grade)"),
        ("1 a d1 1\n1 b d1 2\n1 a d1 2\n", ":3: document d1 is judged 2 for query 1, earlier 1"),
    ],
)
def test_a_file_that_is_not_by_subtopic_is_one_line(tmp_path, lines, said):
    (tmp_path / "q.txt").write_text(lines)
    settings = script.Settings(source=str(tmp_path / "q.txt"), format="qrels", seed=1, options={"subtopics": True})
    with refused(said):
        script.prepare(tmp_path / "out", settings)
    assert not (tmp_path / "out").exists()
