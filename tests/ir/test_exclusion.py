"""Documents that are excluded for a query: left out before a cut, and kept beside the query on disk."""

import json

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import most, passages_of, read_excluded, read_queries, without, write_queries


def test_they_are_left_out_before_the_cut_in_the_order_of_the_scores():
    scores = {"own": 9.0, "b": 3.0, "a": 3.0, "c": 1.0}
    assert list(without(scores, {"own", "c", "elsewhere"}, 1)) == ["b"]
    assert without(scores, {"own"}) == {"b": 3.0, "a": 3.0, "c": 1.0}
    assert list(without(scores, (), 2)) == ["own", "b"]
    assert without(scores, scores) == {}
    assert (most({}), most({"q": {"a"}, "r": {"a", "b"}})) == (0, 2)


def test_they_stand_beside_the_query(tmp_path):
    file, queries = tmp_path / "test.jsonl", {"q": "text", "r": "other"}
    write_queries(file, queries, {"r": {"b", "a"}, "elsewhere": {"c"}})
    assert read_queries(file) == queries and passages_of(file) == {"q": ["text"], "r": ["other"]}
    assert read_excluded(file) == {"r": {"a", "b"}}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines == [{"_id": "q", "text": "text"}, {"_id": "r", "text": "other", "excluded": ["a", "b"]}]


def test_a_damaged_record_is_one_line(tmp_path):
    for value in ('"a"', "[1]", "null"):
        (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "t", "excluded": ' + value + "}\n")
        with pytest.raises(UserError, match="was changed or damaged: excluded of q is not a list of ids"):
            read_excluded(tmp_path / "q.jsonl")
