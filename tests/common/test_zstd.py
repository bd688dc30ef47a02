"""Files packed by zstd: read whole and as a stream, or refused in one line; a cut file is never a shorter one."""

import io
import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pyarrow
import pytest

from ranktrial.common import reading
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.reading import ZstdDamage, open_bytes, read_text
from ranktrial.common.strict_xml import read_xml
from ranktrial.common.unpacking import opened
from ranktrial.ir.trec import read_plain_run, read_qrels, read_run
from tests.common.test_unpacking import THREE, refusal, tarred

ROOT = Path(__file__).parents[2]
HEADER = b"\x28\xb5\x2f\xfd"
# `printf 'abc\n' | zstd`, whose last four bytes are a checksum, and what `pzstd` makes of 300 zeros.
BY_ZSTD = bytes.fromhex("28b52ffd04582100006162630a2d6e4c82")
BY_PZSTD = bytes.fromhex("502a4d18040000001600000028b52ffd04584d00001000000100272ac00290ea003a")
SKIPPED = b"\x5f\x2a\x4d\x18" + (100_000).to_bytes(4, "little") + bytes(100_000)
RUN = "".join(f"q{query} Q0 d{rank} {rank + 1} {99 - rank} tag\n" for query in range(40) for rank in range(50)).encode()


def packed(data):
    return pyarrow.compress(data, "zstd", asbytes=True)


def frames(data, count=7):
    """The data in several frames, an empty and a skipped one among them."""
    cuts = sorted(random.Random(count).sample(range(len(data)), count - 1))
    parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return packed(b"") + SKIPPED.join(map(packed, parts))


def refused(path, read=lambda path: list(lines(path))):
    with pytest.raises(UserError) as error:
        read(path)
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("pack", [packed, frames, lambda data: SKIPPED + packed(data)], ids=["one", "many", "skipped"])
def test_runs_and_judgements_are_read_as_if_they_were_plain(tmp_path, pack):
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "run.zst").write_bytes(pack(RUN))
    plain = read_run(tmp_path / "run")
    assert read_run(tmp_path / "run.zst") == read_plain_run(tmp_path / "run.zst") == plain and len(plain) == 40
    (tmp_path / "qrels").write_bytes(pack(b"\xef\xbb\xbfq1 0 d1 1\r\nq1 0 d2 0\r\n"))
    assert read_qrels(tmp_path / "qrels") == {"q1": {"d1": 1, "d2": 0}}
    (tmp_path / "topics").write_bytes(pack(b"<topics>\n<title>oats</title>\n</topics>"))
    assert read_xml(tmp_path / "topics").text == "oats"


def test_what_the_commands_pack_is_read(tmp_path):
    (tmp_path / "f").write_bytes(BY_ZSTD * 2)
    assert list(lines(tmp_path / "f")) == [(1, "abc"), (2, "abc")]
    (tmp_path / "f").write_bytes(BY_PZSTD)
    assert read_text(tmp_path / "f") == "\0" * 300


@pytest.mark.parametrize("pack", [packed, frames], ids=["one", "many"])
def test_no_cut_file_is_read_as_a_shorter_one(tmp_path, pack):
    """But for a cut exactly between two frames: what is left is a whole file (docs/architecture.md)."""
    whole = pack(RUN)
    places = {*range(4, 100), *range(len(whole) - 300, len(whole)), *range(4, len(whole), 1 + len(whole) // 200)}
    ends = {place for place in range(1, len(whole)) if whole.startswith((HEADER, SKIPPED[:8]), place)}
    for place in sorted(places - ends):
        (tmp_path / "run").write_bytes(whole[:place])
        assert "damaged zstd file (Compressed file ended" in refused(tmp_path / "run", read_run), place


HOSTILE = {
    "text behind": (BY_ZSTD + b"hello\n", "damaged zstd file (Unknown frame descriptor)"),
    "zeros behind": (BY_ZSTD + bytes(512), "damaged zstd file (Unknown frame descriptor)"),
    "the start of a frame behind": (BY_ZSTD + HEADER[:2], "damaged zstd file (Compressed file ended"),
    "gzip behind": (BY_ZSTD + b"\x1f\x8b\x08\x00", "damaged zstd file (Unknown frame descriptor)"),
    "only its first bytes": (HEADER, "damaged zstd file (Compressed file ended"),
    "a skipped frame cut off": (BY_ZSTD + SKIPPED[:-1], "damaged zstd file (Compressed file ended"),
    "wrong checksum": (BY_ZSTD[:-1] + b"\x83", "damaged zstd file (Restored data doesn't match checksum)"),
    "a changed letter": (BY_ZSTD.replace(b"abc", b"abd"), "damaged zstd file (Restored data doesn't match checksum)"),
    "a reserved block": (HEADER + b"\x00\x58\x07\x00\x00", "damaged zstd file (Data corruption detected)"),
    "a window of 2 TB": (HEADER + b"\x00\xf8\x01\x00\x00", "refused, it needs a window of more than 128 MB"),
    "a text of 1 TB at once": (HEADER + b"\xe0" + (1 << 40).to_bytes(8, "little"), "refused, it needs a window of"),
    "a dictionary": (HEADER + b"\x21\x07\x00\x01\x00\x00", "refused, it was packed with a dictionary"),
    "zstd of zstd": (packed(packed(b"abc\n")), "f:1: not UTF-8 text"),
    "zstd of bad UTF-8": (packed(b"ok\n\xff\n"), "f:2: not UTF-8 text"),
    "a NUL": (packed(b"ok\na\0b\n"), "f:2: a NUL character"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_sound_file_is_refused_in_one_line(tmp_path, content, said):
    (tmp_path / "f").write_bytes(content)
    assert said in refused(tmp_path / "f")
    if "zstd file" in said or "refused" in said:
        assert said in refused(tmp_path / "f", read_text)


def test_a_window_of_128_mb_is_read(tmp_path):
    (tmp_path / "f").write_bytes(HEADER + b"\x00\x88" + (3 * 8 + 1).to_bytes(3, "little") + b"abc")
    assert read_text(tmp_path / "f") == "abc"
    (tmp_path / "f").write_bytes(HEADER + b"\x00\x89" + (3 * 8 + 1).to_bytes(3, "little") + b"abc")
    assert "window of more than 128 MB" in refused(tmp_path / "f")


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ALWAYS_FREE", 300_000)
    (tmp_path / "f").write_bytes(packed(b"\n" * 50_000_000))
    for read in (lambda path: list(lines(path)), read_text, read_run, lambda path: open_bytes(path).seek(1 << 40)):
        assert "refused, it unpacks to more than" in refused(tmp_path / "f", read)
    with open_bytes(tmp_path / "f") as file:
        assert len(file.read(1000)) == 1000  # what is not asked for is not unpacked


def test_memory_does_not_grow_with_the_file(tmp_path):
    """150 MB of lines, in a process of its own, take as much as the first of its frames."""
    data = b"".join(os.urandom(40).hex().encode() + b"\n" for _ in range(20_000))
    program = (
        "import re, sys; from pathlib import Path; from ranktrial.common.files import lines\n"
        "count = sum(1 for _ in lines(Path(sys.argv[1])))\n"
        "print(count, re.search(r'VmHWM:\\s+([0-9]+)', Path('/proc/self/status').read_text())[1])"
    )
    peaks = {}
    for count in (1, 90):
        (tmp_path / "f").write_bytes(packed(data) * count)
        command = [sys.executable, "-c", program, str(tmp_path / "f")]
        read, peaks[count] = map(int, subprocess.check_output(command, cwd=ROOT).split())
        assert read == 20_000 * count
    assert peaks[90] < peaks[1] + 5_000  # KB


def test_seeking_is_that_of_plain_bytes(tmp_path):
    data, rng = os.urandom(900_000), random.Random(1)
    (tmp_path / "f").write_bytes(frames(data))
    with open_bytes(tmp_path / "f") as packed_file, io.BytesIO(data) as plain:
        for _ in range(60):
            place, size = rng.randrange(1_000_000), rng.choice([0, 1, 512, 300_000])
            for file in (packed_file, plain):
                file.seek(place)
            assert packed_file.read(size) == plain.read(size)
            if place <= len(data):  # beyond the end a packed file stays there
                assert packed_file.tell() == plain.tell()
    with pytest.raises(ValueError, match="closed"):
        packed_file.read()


def test_a_tar_is_unpacked_or_refused(tmp_path):
    whole = tarred(tmp_path / "whole.tar", THREE, "w").read_bytes()
    path = tmp_path / "a.tar.zst"
    path.write_bytes(frames(whole))
    with opened(path) as folder:
        assert {file.name: file.read_text() for file in folder.iterdir()} == {name: text for name, text, _ in THREE}
    long = [("a.txt", os.urandom(300_000).hex(), "")]  # longer than what is read to see whether it is a tar
    path.write_bytes(packed(tarred(tmp_path / "long.tar", long, "w").read_bytes())[:-5])
    assert "damaged archive (Compressed file ended" in refusal(path)
    path.write_bytes(packed(whole[:2000]))
    assert "damaged archive" in refusal(path)
    path.write_bytes(packed(b"{}\n"))
    assert "a single compressed file instead of an archive" in refusal(path)


def test_a_failing_disk_is_not_taken_for_a_damaged_file(tmp_path, monkeypatch):
    (tmp_path / "f").write_bytes(packed(b"abc\n"))

    def fail(*_):
        raise OSError(5, "Input/output error")

    with open_bytes(tmp_path / "f") as file:
        monkeypatch.setattr(file.raw, "stream", SimpleNamespace(readinto=fail, close=lambda: None))
        with pytest.raises(OSError, match="Input/output error") as error:
            file.read()
    assert not isinstance(error.value, ZstdDamage)
