"""What a file holds is known by its first lines."""

import gzip
from pathlib import Path

import pytest

from ranktrial.common.errors import UserError
from ranktrial.new.kinds_of_files import Head, kind_of, read_head, value_names
from tests.support.one_line import refused

CASES = [
    ("documents", "a", "<DOC>\n<DOCNO>1</DOCNO>"),
    ("documents", "a", '{"id": "1", "contents": "x"}'),
    ("documents", "collection.tsv", "1\tfirst text\n2\tsecond text"),
    ("documents", "a", "d1\thttp://x\ttitle\tbody"),
    ("topics", "a", "<top>\n<num> 1"),
    ("topics", "a", '<?xml version="1.0"?>\n<topics>\n<topic number="1">'),
    ("topics", "a", '{"query_id": "1", "query": "x"}'),
    ("topics", "queries.jsonl", '{"_id": "1", "text": "x"}'),
    ("topics", "queries.tsv", "1\tfirst text\n2\tsecond text"),
    ("topics", "a", "701:us oil\n702:cheese"),
    ("qrels", "a", "1 0 d1 1\n1 0 d2 0"),
    ("qrels", "a", "1 0 8412684 2\n1 0 8412685 0"),
    ("qrels", "a", "query-id\tcorpus-id\tscore\nq1\td1\t1"),
    ("qrels", "a", "q1\td1\t1\nq1\td2\t1"),
    ("qrels", "a", "1 0 8412684 0.5\n1 0 8412685 1"),  # whose reader reports the fraction
    ("qrels", "a", "qid\tdocid\trel\nq1\td1\t0.5"),
    ("run", "a", "q1 d1 1 9.5"),
    ("run", "a", "q1 Q0 d1 1 9.5 tag\nq1 Q0 d2 2 9.0 tag"),
    ("run", "a", "q1 d1 1 9.5\nq1 d2 2 9.0\nq2 d1 1 4"),
    ("run", "a", "q1\td1\t1\nq1\td2\t2\nq2\td1\t1"),
    ("scores", "a", "0.5\n1\n0"),
    ("scores", "a", "q1\t0.5\nq2\t1"),
    ("scores", "a", "query_id,bm25,dense\nq1,0.5,1"),
    ("scores", "a", "id\tbm25\tdense\nq1\t0.5\t1"),
    (None, "README.md", "# Data\nSee the paper, please."),
    (None, "a", "{not json\n{"),
    (None, "a", "[1, 2]"),
    (None, "a", "<html>\n<body>"),
    (None, "a", "q1,0.5\nq2,0.25"),  # without a heading nothing says that commas separate
    (None, "a", ""),
]


@pytest.mark.parametrize(("kind", "name", "text"), CASES)
def test_the_first_lines_say_what_it_is(kind, name, text):
    assert kind_of(Head(Path(name), tuple(text.split("\n")) if text else ())) == kind


@pytest.mark.parametrize("name", ["query_id", "qid", "query", "id", "_id"])
def test_json_lines_of_an_id_and_numbers_are_scores_and_those_with_a_text_topics(tmp_path, name):
    (tmp_path / "a").write_text(f'{{"{name}": "q1", "bm25": 0.5, "dense": 1}}\n')
    (tmp_path / "topics").write_text(f'{{"_id": "q1", "{name}": "q1", "text": "x", "words": 1}}\n')
    assert kind_of(read_head(tmp_path / "a")) == "scores"
    assert kind_of(read_head(tmp_path / "topics")) == "topics"


def test_the_head_of_a_packed_file_is_that_of_its_text(tmp_path):
    (tmp_path / "r.gz").write_bytes(gzip.compress(b"q1 Q0 d1 1 9.5 tag\r\n"))
    assert kind_of(read_head(tmp_path / "r.gz")) == "run"
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"q1 Q0 d1 1 9.5 tag\n" * 9)[:-12])
    with pytest.raises(UserError, match="damaged gzip file"):
        read_head(tmp_path / "broken.gz")


def test_a_long_file_is_read_no_further_than_its_head(tmp_path):
    (tmp_path / "a").write_text('{"id": "1", "text": "' + "x" * 100_000 + '"}\n')
    assert kind_of(read_head(tmp_path / "a")) == "documents"
    (tmp_path / "b").write_text("0.25\n" * 50_000)
    assert len(read_head(tmp_path / "b").lines) == 50


def test_text_that_is_not_utf_8_has_its_encoding(tmp_path):
    (tmp_path / "a").write_bytes("<DOC>\n<TEXT>café".encode("latin-1"))
    assert read_head(tmp_path / "a").encoding == "latin-1" and kind_of(read_head(tmp_path / "a")) == "documents"
    (tmp_path / "b").write_bytes(b"\x89PNG\0\0")
    assert read_head(tmp_path / "b").lines == ()


def test_headings_of_values():
    assert value_names(Head(Path("a"), ('query_id,"a, b",c', "x,1,2"))) == ["a, b", "c"]
    assert value_names(Head(Path("a"), ("q1\t0.5",))) == []


@pytest.mark.parametrize("start", ["", "\n \n"])
def test_a_quote_that_does_not_close_is_reported_with_its_file_and_line(tmp_path, start):
    (tmp_path / "t.csv").write_text(f'{start}id,"a\nq1,1\n')
    with refused(f"{tmp_path}/t.csv:{1 + start.count(chr(10))}: not a line of comma-separated values"):
        kind_of(read_head(tmp_path / "t.csv"))


def test_a_file_of_the_system_that_cannot_be_read_is_named():
    """Linux has such a file for each process: it opens, and each read of it fails."""
    with pytest.raises(OSError) as reported:
        read_head(Path("/proc/self/mem"))
    assert reported.value.filename == "/proc/self/mem"
