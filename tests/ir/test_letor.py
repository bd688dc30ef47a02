"""LETOR files: there and back, as scikit-learn reads them, and what each mistake says with its line."""

import numpy as np
import pytest

from ranktrial.ir.collection import write_queries
from ranktrial.ir.feature_file import Features, feature_names, read_about, read_features, writing
from ranktrial.ir.letor import feature_names as names_in_text
from ranktrial.ir.letor import read_letor
from scripts.features.jobs import export_features, import_features
from tests.support.calling import call
from tests.support.one_line import refused

MQ2007 = """\
0 qid:10 1:0.5 2:1 3:0.25 #docid = GX000-00 inc = 1 prob = 0.1
2 qid:10 1:0 3:-1e-3 #docid = GX000-01 inc = 1 prob = 0.2

1 qid:9 2:3 #docid = GX000-00 inc = 0 prob = 0.3
"""
MSLR = "2 qid:1 1:3 2:0.5\n0 qid:1 1:0 2:0\n1 qid:2 1:1 2:1\n"


def imported(folder, text, **queries):
    (folder / "letor.txt").write_text(text)
    call(import_features, {}, source=folder / "letor.txt", features=folder / "f.parquet", **queries)
    (rows,) = read_features(folder / "f.parquet")
    return rows


def test_a_file_of_letor_4_is_taken_over(tmp_path):
    rows = imported(tmp_path, MQ2007)
    assert rows.queries == ["10", "10", "9"] and rows.documents == ["GX000-00", "GX000-01", "GX000-00"]
    assert rows.grades == [0, 2, 1]
    assert rows.values.tolist() == [[0.5, 1, 0.25], [0, 0, -0.001], [0, 3, 0]]
    assert feature_names(tmp_path / "f.parquet") == ["feature-1", "feature-2", "feature-3"]
    assert read_about(tmp_path / "f.parquet")["indices"] == {}


def test_what_is_excluded_for_a_query_has_no_features(tmp_path):
    write_queries(tmp_path / "q.jsonl", {"10": "text", "9": "text"}, {"10": {"GX000-00"}})
    rows = imported(tmp_path, MQ2007, queries=tmp_path / "q.jsonl")
    assert (rows.queries, rows.documents) == (["10", "9"], ["GX000-01", "GX000-00"])


def test_lines_without_documents_are_named_after_their_place(tmp_path):
    rows = imported(tmp_path, MSLR)
    assert rows.documents == ["1-1", "1-2", "2-1"]


def written(path):
    values = np.array([[0.1, -3.0], [1 / 3, 1e-300], [2.0, 12345.678]])
    with writing(path, ["BM25", "BM25.title"]) as writer:
        writer.add(Features(["a", "a", "ä/7"], ["d1", "d2", "d1"], [1, None, -2], values))
        writer.close({"features": [{"name": "BM25"}, {"name": "BM25.title"}], "indices": {}})
    return values


def test_features_survive_the_way_there_and_back(tmp_path):
    values = written(tmp_path / "a.parquet")
    export_features(tmp_path / "a.parquet", [], tmp_path / "a.txt")
    rows = imported(tmp_path, (tmp_path / "a.txt").read_text())
    assert (rows.values == values).all()
    assert rows.queries == ["a", "a", "ä/7"] and rows.documents == ["d1", "d2", "d1"] and rows.grades == [1, 0, 0]
    assert feature_names(tmp_path / "f.parquet") == ["BM25", "BM25.title"]


def test_scikit_learn_reads_what_is_written(tmp_path):
    from sklearn.datasets import load_svmlight_file

    values = written(tmp_path / "a.parquet")
    export_features(tmp_path / "a.parquet", [], tmp_path / "a.txt")
    read, grades, qids = load_svmlight_file(str(tmp_path / "a.txt"), query_id=True)
    assert (read.toarray() == values).all() and grades.tolist() == [1, 0, 0] and qids.tolist() == [1, 1, 2]


WRONG = {
    "a query that comes again": ("1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:2\n", "letor.txt:3: query '1' comes again after another; its lines must be adjacent"),
    "features out of order": ("1 qid:1 1:1\n1 qid:1 2:1 1:1\n", "letor.txt:2: feature 1 comes after feature 2; expected ascending numbers"),
    "a feature twice": ("1 qid:1 1:1 1:1\n", "letor.txt:1: feature 1 comes after feature 1"),
    "not finite": ("1 qid:1 1:nan\n", "letor.txt:1: feature '1:nan' is not a finite number"),
    "infinite": ("1 qid:1 1:1 2:1e999\n", "letor.txt:1: feature '2:1e999' is not a finite number"),
    "no value": ("1 qid:1 1\n", "letor.txt:1: feature '1' is not a finite number behind its place and a colon"),
    "feature 0": ("1 qid:1 0:1 1:1\n", "letor.txt:1: '0' is not the number of a feature, from 1 to 100,000"),
    "a number beyond memory": ("1 qid:1 999999999:1\n", "letor.txt:1: '999999999' is not the number of a feature"),
    "no number": ("1 qid:1 x:1\n", "letor.txt:1: 'x' is not the number of a feature"),
    "no qid": ("1 1:1 2:1\n", "letor.txt:1: the second column is not qid:QUERY"),
    "an empty qid": ("1 qid: 1:1\n", "letor.txt:1: the second column is not qid:QUERY"),
    "a grade alone": ("1 qid:1 1:1\n1\n", "letor.txt:2: the second column is not qid:QUERY"),
    "a grade below 0": ("-1 qid:1 1:1\n", "letor.txt:1: grade '-1' is not a whole number from 0"),
    "a grade that is no whole number": ("0.5 qid:1 1:1\n", "letor.txt:1: grade '0.5' is not a whole number from 0"),
    "a document twice": ("1 qid:1 1:1 # docid = a\n1 qid:1 1:1 # docid = a\n", "letor.txt:2: document 'a' occurs twice for query '1'"),
    "nothing": ("# a comment\n", "letor.txt: no line with a feature"),
    "too few names": ("# features: 1 BM25\n1 qid:1 1:1 2:1\n", "letor.txt: names 1 features, but its lines have 2"),
    "names that are none": ("# features: BM25\n1 qid:1 1:1\n", "letor.txt: expected names such as"),
    "a control character in an id": ("1 qid:1 1:1 # docid = a\x07b\n", "letor.txt:1: the document id"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reported"), WRONG.values(), ids=WRONG)
def test_each_mistake_is_one_line_and_leaves_nothing_behind(tmp_path, text, reported):
    with refused(reported):
        imported(tmp_path, text)
    assert not (tmp_path / "f.parquet").exists()


def test_a_file_is_read_line_by_line(tmp_path):
    (tmp_path / "letor.txt").write_text(MSLR + "1 qid:1 1:1\n")
    rows = read_letor(tmp_path / "letor.txt")
    assert next(rows).values == {1: 3.0, 2: 0.5}
    assert names_in_text(tmp_path / "letor.txt") == ["feature-1", "feature-2"]
