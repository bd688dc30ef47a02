"""Runs and qrels: what is written is read again."""

import gzip

import pytest

from ranktrial.common.errors import UserError
from ranktrial.ir.trec import read_qrels, read_run, write_qrels, write_run


def test_runs_and_qrels_survive_a_round_trip_also_compressed_with_bom_and_crlf(tmp_path):
    run = {"q1": {"d1": 2.5, "d2": -1.0}, "q2": {"d1": 1e-7}}
    write_run(tmp_path / "r.trec.gz", run, "tag")
    assert read_run(tmp_path / "r.trec.gz") == run
    write_qrels(tmp_path / "q", {"q1": {"d1": 3, "d2": 0}})
    assert read_qrels(tmp_path / "q") == {"q1": {"d1": 3, "d2": 0}}
    (tmp_path / "windows").write_bytes(b"\xef\xbb\xbfq1 Q0 d1 1 0.5 t\r\nq1 Q0 d2 2 0.25 t\r\n")
    assert read_run(tmp_path / "windows") == {"q1": {"d1": 0.5, "d2": 0.25}}


def test_equal_runs_are_equal_bytes_when_compressed(tmp_path):
    for name in ("a", "b"):
        write_run(tmp_path / f"{name}.gz", {"q": {"d": 1.0}}, "t")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_damaged_gzip_is_one_line(tmp_path):
    path = tmp_path / "r.gz"
    path.write_bytes(gzip.compress(b"".join(b"q1 Q0 d%d 1 0.5 t\n" % n for n in range(1000)))[:-12])
    with pytest.raises(UserError, match="damaged gzip"):
        read_run(path)


def test_runs_of_four_columns_are_read_as_those_of_six(tmp_path):
    (tmp_path / "four").write_text("q1\td1\t1\t2.5\nq1\td2\t2\t-1e-3\n")
    (tmp_path / "six").write_text("q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 -1e-3 t\n")
    assert read_run(tmp_path / "four") == read_run(tmp_path / "six") == {"q1": {"d1": 2.5, "d2": -0.001}}
