"""Runs read in blocks: the same as line by line, and left to the careful reader wherever anything is unusual."""

import gzip
import random

import pytest

from ranktrial.ir import trec
from ranktrial.ir.trec import read_plain_run, read_run, write_run

LINE = "q Q0 d 1 0.5 t\n"


@pytest.fixture
def carefully(monkeypatch):
    """Reads a run line by line."""

    def read(path):
        with monkeypatch.context() as patch:
            patch.setattr(trec, "read_plain_run", lambda path: None)
            return read_run(path)

    return read


@pytest.mark.parametrize("block", [1, 50, 1 << 16])
@pytest.mark.parametrize("name", ["run.trec", "run.trec.gz"])
def test_it_reads_what_the_careful_reader_reads(tmp_path, monkeypatch, carefully, block, name):
    drawn = random.Random(7)
    scores = [0.0, -1.5, 3.25e-30, 3.4028234e38, 1e9, 0.1]
    documents = [f"d{number}" for number in range(40)]
    run = {f"q{n}": {name: drawn.choice(scores) for name in drawn.sample(documents, 20)} for n in range(5)}
    write_run(tmp_path / name, run, "a-tag")
    monkeypatch.setattr(trec, "BLOCK", block)
    read = read_plain_run(tmp_path / name)
    assert read == carefully(tmp_path / name)
    assert {query: list(found) for query, found in read.items()} == {
        query: list(found) for query, found in carefully(tmp_path / name).items()
    }
    assert read_plain_run(tmp_path / name).keys() == run.keys()


@pytest.mark.parametrize(
    "content",
    [
        "b Q0 d 1 2 t\na Q0 d 1 3 t\nb Q0 e 2 1 t\n",  # a query comes back
        "b Q0 d 1 2 t\nb Q0 e 2 1 t",  # no end of the last line
        "q Q0 d 1 +1.5e+3 t\nq Q0 e 2 .5 t\nq Q0 f 3 1. t\nq Q0 null 4 -7e-320 t\nq NA \"NA 007 -0 'NaN\n",
        "".join(f"q Q0 d{number} {number} {0.1 / (number + 1)!r} t\n" for number in range(999)),
    ],
)
def test_plain_runs_of_other_hands(tmp_path, carefully, content):
    (tmp_path / "run").write_text(content)
    assert read_plain_run(tmp_path / "run") == carefully(tmp_path / "run") != {}


@pytest.mark.parametrize(
    "content",
    [
        LINE + "q d 1 0.5\n",
        "q Q0 d 1 0.5\nq Q0 e 2 0.4 t t\n",  # five columns, then seven
        LINE.replace(" ", "\t"),
        LINE.replace(" 1", "  1"),
        " " + LINE,
        LINE.replace("\n", " \n"),
        LINE + "\n" + LINE.replace("d", "e"),
        LINE.replace("\n", "\r\n"),
        LINE.replace("d", "dé"),
        LINE.replace("d", "d\x01"),
        LINE + LINE,
        LINE.replace("d", "c") + LINE.replace("q", "p") + LINE + LINE,
        *(
            LINE.replace("0.5", score)
            for score in ("nan", "inf", "-Infinity", "1e39", "1_0", "high", "1e400", "0x1p3", "1d5", "", "nan(1)")
        ),
        *(LINE.replace(" 1 ", f" {rank} ") for rank in ("-1", "1.0", "one", "0x10", "")),
        LINE * 10000 + LINE.replace("d", "d" * 200_000) + LINE,
    ],
)
def test_anything_unusual_is_left_to_the_careful_reader(tmp_path, content):
    (tmp_path / "run").write_bytes(content.encode())
    assert read_plain_run(tmp_path / "run") is None


def test_damaged_files_are_left_to_the_careful_reader(tmp_path):
    packed = gzip.compress("".join(f"q Q0 d{number} 1 0.5 t\n" for number in range(100_000)).encode())
    (tmp_path / "cut.gz").write_bytes(packed[:-12])
    (tmp_path / "bytes").write_bytes(LINE.encode() + b"\xff\xfe\n")
    assert read_plain_run(tmp_path / "cut.gz") is read_plain_run(tmp_path / "bytes") is None
