"""Hostile and damaged archives and files: each is refused in one line, and nothing of it is left anywhere."""

import bz2
import gzip
import io
import lzma
import os
import random
import re
import socket
import stat
import struct
import tarfile
import tempfile
import warnings
import zipfile
from functools import partial
from types import SimpleNamespace

import pyarrow
import pytest

from ranktrial.common import reading, unpacking
from ranktrial.common.errors import UserError
from ranktrial.common.files import lines
from ranktrial.common.unpacking import only_folder_with, opened
from tests.support.one_line import refused


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """A TMPDIR of the test's own, which must be empty afterwards."""
    folder = tmp_path / "TMPDIR"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


def refusal(path, plain=False):
    """The one line with which an archive is refused."""
    with pytest.raises(UserError) as error, opened(path, plain):
        pytest.fail("unpacked")
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    return str(error.value)


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", method) as archive:
        warnings.simplefilter("ignore", UserWarning)  # of names that stand twice
        for name, content in members:
            if name == "":  # writestr fails for it
                archive.open(zipfile.ZipInfo(""), "w").close()
            else:
                archive.writestr(name, content)
    return path


def special(name, mode):
    member = zipfile.ZipInfo(name)
    member.create_system, member.external_attr = 3, mode << 16
    return member


ZIP_MEMBERS = {
    "twice": ([("a", "1"), ("a", "2")], "duplicate member 'a'"),
    "twice, one with ./": ([("a", "1"), ("./a", "2")], "duplicate member './a'"),
    "file and folder": ([("a", "1"), ("a/b", "2")], "'a/b' is a file and a folder at once"),
    "folder and file": ([("a/b", "1"), ("a", "2")], "'a' is a file and a folder at once"),
    "file and empty folder": ([("a/", ""), ("a", "2")], "'a' is a file and a folder at once"),
    "empty name": ([("a", "1"), ("", "2")], "'' names no file"),
    "dot": ([(".", "1")], "'.' names no file"),
    "dots": ([("..", "1")], "'..' would leave the archive's folder"),
    "leads out": ([("../evil", "1")], "would leave the archive's folder"),
    "leads out inside": ([("a/../../evil", "1")], "would leave the archive's folder"),
    "absolute": ([("/etc/evil", "1")], "would leave the archive's folder"),
    "backslash": ([("..\\evil", "1")], "contains a backslash"),
    "not in shortest form": ([("a//b", "1")], "is not in its shortest form"),
    "newline": ([("a\nb", "1")], "contains a control character"),
    "escape": ([("a\x1b[2Jb", "1")], "contains a control character"),
    "long name": ([("a" * 300, "1")], "more than 255 bytes"),
    "long path": ([("/".join(["a" * 200] * 10), "1")], "more than 1000 bytes"),
    "link": ([(special("a", stat.S_IFLNK | 0o777), "/etc/passwd")], "'a' is a link"),
    "device": ([(special("a", stat.S_IFCHR | 0o666), "")], "'a' is not a regular file"),
    "pipe": ([(special("a", stat.S_IFIFO | 0o666), "")], "'a' is not a regular file"),
    "folder with content": ([("a/", "content")], "'a/' is a folder with content"),
}  # fmt: skip


@pytest.mark.parametrize(("members", "said"), ZIP_MEMBERS.values(), ids=ZIP_MEMBERS)
def test_a_member_of_a_zip_that_is_refused(tmp_path, members, said):
    assert said in refusal(zipped(tmp_path / "a.zip", members))
    assert not (tmp_path / "evil").exists()


def patched(data, signature, offset, form, value):
    """A zip's bytes with one field changed in each header of that signature."""
    data, place = bytearray(data), 0
    while (place := data.find(signature, place)) >= 0:
        struct.pack_into(form, data, place + offset, value)
        place += 4
    return bytes(data)


LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
DAMAGED_ZIPS = {
    "encrypted": (lambda data: patched(data, CENTRAL, 8, "<H", 1), "is encrypted"),
    "unknown method": (lambda data: patched(data, CENTRAL, 10, "<H", 99), "is compressed by method 99"),
    "wrong CRC": (lambda data: patched(patched(data, CENTRAL, 16, "<I", 7), LOCAL, 14, "<I", 7), "Bad CRC-32"),
    "states more bytes": (lambda data: patched(data, CENTRAL, 24, "<I", 99), "damaged archive"),
    "states fewer bytes": (lambda data: patched(data, CENTRAL, 24, "<I", 3), "damaged archive"),
    "states 4 GB": (lambda data: patched(data, CENTRAL, 24, "<I", 0xFFFFFFF0), "unpacks to more than"),
    "states a longer packed size": (lambda data: patched(data, CENTRAL, 20, "<I", 5000), "overlap with"),
    "members at one place": (lambda data: patched(data, CENTRAL, 42, "<I", 0), "overlap with"),
    "a directory without its first member": (
        lambda data: data.replace(data[data.find(CENTRAL) : data.find(CENTRAL) + 51], b"", 1),
        "damaged archive",
    ),
    "another name inside": (lambda data: data.replace(b"b.txt", b"c.txt", 1), "differ"),
    "cut off": (lambda data: data[:-30], "damaged archive"),
    "cut in half": (lambda data: data[: len(data) // 2], "damaged archive"),
    "two zips in one file": (lambda data: data + data, "belong to no member of its directory"),
    "a changed byte": (lambda data: data[:40] + bytes([data[40] ^ 255]) + data[41:], "damaged archive"),
    "only its end": (lambda data: END + data[-18:], "damaged archive"),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGED_ZIPS.values(), ids=DAMAGED_ZIPS)
def test_a_zip_that_is_damaged_or_cannot_be_read(tmp_path, damage, said):
    path = zipped(tmp_path / "a.zip", [("a.txt", "one " * 30), ("b.txt", "two " * 30)])
    path.write_bytes(damage(path.read_bytes()))
    assert said in refusal(path)


def tarred(path, members, mode="w:gz"):
    """A tar of (name, type or content, link) members."""
    with tarfile.open(path, mode, format=tarfile.GNU_FORMAT) as archive:
        for name, content, link in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content.encode()))
            else:
                member.type, member.linkname = content, link
                archive.addfile(member)
    return path


TAR_MEMBERS = {
    "twice": ([("a", "1", ""), ("a", "2", "")], "duplicate member 'a'"),
    "file and folder": ([("a", "1", ""), ("a/b", "2", "")], "is a file and a folder at once"),
    "dangling hard link": ([("a", tarfile.LNKTYPE, "gone")], "'a' is a link"),
    "hard link out": ([("a", tarfile.LNKTYPE, "/etc/passwd")], "'a' is a link"),
    "hard link inside": ([("a", "1", ""), ("b", tarfile.LNKTYPE, "a")], "'b' is a link; unpack it yourself"),
    "link out": ([("a", tarfile.SYMTYPE, "/etc"), ("a/evil", "1", "")], "'a' is a link"),
    "link inside": ([("a", "1", ""), ("b", tarfile.SYMTYPE, "a")], "'b' is a link"),
    "character device": ([("a", tarfile.CHRTYPE, "")], "'a' is not a regular file"),
    "block device": ([("a", tarfile.BLKTYPE, "")], "'a' is not a regular file"),
    "pipe": ([("a", tarfile.FIFOTYPE, "")], "'a' is not a regular file"),
    "unknown type": ([("a", b"Z", "")], "'a' is not a regular file"),
    "absolute": ([("/etc/evil", "1", "")], "would leave the archive's folder"),
    "leads out": ([("../evil", "1", "")], "would leave the archive's folder"),
    "control character": ([("a\tb", "1", "")], "contains a control character"),
    "backslash": ([("a\\b", "1", "")], "contains a backslash"),
    "long path": ([("/".join(["a" * 200] * 10), "1", "")], "more than 1000 bytes"),
    "empty name": ([("", "1", "")], "'' names no file"),
}


@pytest.mark.parametrize(("members", "said"), TAR_MEMBERS.values(), ids=TAR_MEMBERS)
def test_a_member_of_a_tar_that_is_refused(tmp_path, members, said):
    assert said in refusal(tarred(tmp_path / "a.tgz", members))
    assert not (tmp_path / "evil").exists()


THREE = [(f"{name}.txt", f"{name} text\n" * 200, "") for name in "abc"]


def header_places(data):
    return [place for place in range(0, len(data), 512) if data[place + 257 : place + 262] == b"ustar"]


def with_byte(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


DAMAGED_TARS = {
    "second header damaged": (lambda data: with_byte(data, header_places(data)[1] + 3), "a header cannot be read, after 1"),
    "first header damaged": (lambda data: with_byte(data, 3), "damaged archive"),
    "checksum damaged": (lambda data: with_byte(data, header_places(data)[2] + 150), "a header cannot be read, after 2"),
    "size damaged": (lambda data: with_byte(data, header_places(data)[1] + 130), "a header cannot be read, after 1"),
    "cut off in a member": (lambda data: data[: header_places(data)[2] - 700], "damaged archive"),
    "cut off in a header": (lambda data: data[: header_places(data)[2] + 100], "damaged archive"),
    "cut off between members": (lambda data: data[: header_places(data)[2]], "it is cut off"),
    "cut off before its end": (lambda data: data.rstrip(b"\0"), "damaged archive"),
    "two tars in one file": (lambda data: data + data, "there are bytes after its end"),
    "text behind its end": (lambda data: data + b"hello", "there are bytes after its end"),
    "a zeroed header": (lambda data: data[: header_places(data)[1]] + bytes(512) + data[header_places(data)[1] + 512 :],
                        "there are bytes after its end"),
}  # fmt: skip


@pytest.mark.parametrize("compression", ["", "gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize(("damage", "said"), DAMAGED_TARS.values(), ids=DAMAGED_TARS)
def test_a_tar_that_is_damaged_or_cut_off_is_not_read_up_to_the_damage(tmp_path, damage, said, compression):
    data = damage(tarred(tmp_path / "whole.tar", THREE, "w").read_bytes())
    pack = {"": bytes, "gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress,
            "zst": partial(pyarrow.compress, codec="zstd", asbytes=True)}  # fmt: skip
    (tmp_path / "a.tar").write_bytes(pack[compression](data))
    assert said in refusal(tmp_path / "a.tar")


@pytest.mark.parametrize("compression", ["gz", "bz2", "xz"])
@pytest.mark.parametrize("seed", range(8))
def test_a_compressed_tar_with_one_changed_byte_is_refused(tmp_path, seed, compression):
    rng = random.Random(seed)
    members = [(f"{n}.txt", "".join(rng.choices("abcdefgh \n", k=5000)), "") for n in range(5)]
    data = bytearray(tarred(tmp_path / "a.tar", members, f"w:{compression}").read_bytes())
    data[rng.randrange(20, len(data) - 12)] ^= 1 << rng.randrange(8)
    (tmp_path / "a.tar").write_bytes(data)
    assert "damaged" in refusal(tmp_path / "a.tar") or "neither" in refusal(tmp_path / "a.tar")


@pytest.mark.parametrize("end", [-1, -4, -8, -9, -50], ids=lambda end: f"{-end} bytes short")
def test_a_gzipped_tar_without_its_last_bytes_is_refused(tmp_path, end):
    path = tarred(tmp_path / "a.tgz", THREE)
    path.write_bytes(path.read_bytes()[:end])
    assert "damaged archive" in refusal(path)


def test_one_compressed_file_is_no_archive(tmp_path):
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(b"{}\n"))
    assert "a single compressed file instead of an archive" in refusal(tmp_path / "corpus.jsonl.gz")
    (tmp_path / "f").write_text("hello")
    assert "neither a folder nor a zip or tar archive" in refusal(tmp_path / "f")


@pytest.mark.parametrize("make", ["zip", "tgz"])
def test_more_than_data_unpacks_to_is_refused(tmp_path, monkeypatch, make):
    """The bounds are made small, so that the bombs can be."""
    monkeypatch.setattr(reading, "ALWAYS_FREE", 100_000)
    if make == "zip":
        path = zipped(tmp_path / "a.zip", [(f"{n}", bytes(1_000_000)) for n in range(3)])
    else:
        path = tarred(tmp_path / "a.tgz", [("a", "0" * 3_000_000, "")])
    assert "unpacks to more than" in refusal(path)
    monkeypatch.setattr(reading, "ALWAYS_FREE", 10_000_000)
    with opened(path) as folder:
        assert sum(file.stat().st_size for file in folder.iterdir()) == 3_000_000


def test_a_tar_of_nothing_but_zeros_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ALWAYS_FREE", 100_000)
    path = tarred(tmp_path / "a.tar", THREE, "w")
    path.write_bytes(gzip.compress(path.read_bytes() + bytes(5_000_000)))
    assert "unpacks to more than" in refusal(path)


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking, "MOST_MEMBERS", 10)
    assert "more than 10 members" in refusal(zipped(tmp_path / "a.zip", [(f"{n}", "") for n in range(11)]))
    assert "more than 10 members" in refusal(tarred(tmp_path / "a.tgz", [(f"{n}", "", "") for n in range(11)]))


def test_an_archive_that_the_disk_cannot_hold_is_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda _: SimpleNamespace(free=5))
    path = zipped(tmp_path / "a.zip", [("a", os.urandom(2_000_000))])
    assert re.search("unpacks to 2,000,000 bytes, but .* has 5 free", refusal(path))


def test_a_header_of_a_tar_that_would_fill_the_memory_is_refused(tmp_path):
    member = tarfile.TarInfo("long")
    member.type, member.size = tarfile.XHDTYPE, 1 << 33
    (tmp_path / "a.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(10240))
    assert "damaged archive (a header of 8,589,934,592 bytes)" in refusal(tmp_path / "a.tar")


@pytest.mark.parametrize("suffix", ["zip", "tar", "tgz", "tar.bz2", "tar.xz"])
def test_whole_archives_are_unpacked(tmp_path, suffix):
    if suffix == "zip":
        path = zipped(
            tmp_path / "a.zip", [("./x/", ""), ("x/corpus.jsonl", "text"), ("Übung é.txt", "2"), ("X/a", "3")]
        )
    else:
        members = [("./", tarfile.DIRTYPE, ""), ("./x/", tarfile.DIRTYPE, ""), ("./x/corpus.jsonl", "text", ""),
                   ("Übung é.txt", "2", ""), ("X/a", "3", "")]  # fmt: skip
        path = tarred(tmp_path / f"a.{suffix}", members, {"tar": "w", "tgz": "w:gz"}.get(suffix, f"w:{suffix[4:]}"))
    with opened(path) as folder:
        assert {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()} == {
            "x/corpus.jsonl": "text", "Übung é.txt": "2", "X/a": "3"}  # fmt: skip


@pytest.mark.parametrize("kind", ["zip", "tar", "tgz"])
def test_no_mutation_of_an_archive_ends_in_anything_but_one_line_or_the_whole_content(tmp_path, kind):
    whole = {"a.txt": "one " * 50, "b/c.txt": "two " * 50}
    path = tmp_path / f"a.{kind}"
    if kind == "zip":
        zipped(path, whole.items())
    else:
        tarred(path, [(name, text, "") for name, text in whole.items()], "w" if kind == "tar" else "w:gz")
    data, rng = path.read_bytes(), random.Random(kind)
    used = len(data.rstrip(b"\0"))
    for _ in range(150):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 3, 10])):
            changed[rng.randrange(used)] = rng.choice([0, 255, rng.randrange(256)])
        path.write_bytes(changed if rng.random() < 0.8 else changed[: rng.randrange(used)])
        try:
            with opened(path) as folder:
                assert sorted(
                    len(file.read_text(errors="replace")) for file in folder.rglob("*") if file.is_file()
                ) == [200, 200]
        except UserError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "device", "missing", "below a file", "NUL in its name"])
def test_only_a_regular_file_is_opened(tmp_path, kind):
    path = tmp_path / "f"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(path))
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "below a file":
        (tmp_path / "f").write_text("")
        path = tmp_path / "f" / "g"
    elif kind == "NUL in its name":
        path = tmp_path / "f\0g"
    with pytest.raises(UserError, match=f"a {kind}; expected a regular file|no such file") as error:
        list(lines(path))
    assert "\n" not in str(error.value)
    if kind in ("pipe", "socket", "device"):
        assert kind in refusal(path) and kind in str(error.value)


BAD_TEXTS = {
    "UTF-16": ("q1 Q0 d\n".encode("utf-16"), "f:1: UTF-16 text; expected UTF-8"),
    "UTF-16 without mark": ("q1 Q0 d\n".encode("utf-16-le"), "f:1: a NUL character"),
    "Latin-1 in line 3": ("gut\n\nschön\n".encode("latin-1"), "f:3: not UTF-8 text"),
    "Latin-1 after 100,000 lines": (b"a\n" * 100_000 + b"\xff\n", "f:100001: not UTF-8 text"),
    "surrogate": (b"a\n\xed\xa0\x80\n", "f:2: not UTF-8 text"),
    "NUL": (b"a\nb\0c\n", "f:2: a NUL character"),
    "half a letter at the end": ("é".encode()[:1], "f:1: not UTF-8 text"),
    "gzip cut off": (gzip.compress(b"a\n" * 9999)[:-9], "damaged gzip file"),
    "gzip with wrong CRC": (with_byte(gzip.compress(b"abc\n" * 9), -6), "damaged gzip file (CRC check failed"),
    "gzip with wrong length": (with_byte(gzip.compress(b"abc\n" * 9), -1), "damaged gzip file (Incorrect length"),
    "gzip with changed letter": (with_byte(gzip.compress(os.urandom(99).hex().encode()), 30), "damaged gzip file"),
    "gzip with more behind": (gzip.compress(b"abc\n") + b"hello", "damaged gzip file (Not a gzipped file"),
    "gzip of gzip": (gzip.compress(gzip.compress(b"abc\n" * 99)), "f:1: not UTF-8 text"),
    "gzip of bad UTF-8": (gzip.compress(b"ok\n\xff\n"), "f:2: not UTF-8 text"),
}


@pytest.mark.parametrize(("content", "said"), BAD_TEXTS.values(), ids=BAD_TEXTS)
def test_bytes_that_are_no_text_are_refused_with_their_line(tmp_path, content, said):
    (tmp_path / "f").write_bytes(content)
    with refused(said):
        list(lines(tmp_path / "f"))


def test_a_gzip_bomb_and_an_endless_line_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "ALWAYS_FREE", 100_000)
    (tmp_path / "f").write_bytes(gzip.compress(b"\n" * 1_000_000))
    for read in (lambda path: list(lines(path)), reading.read_text):
        with pytest.raises(UserError, match="it unpacks to more than"):
            read(tmp_path / "f")
    monkeypatch.setattr("ranktrial.common.files.LONGEST_LINE", 1000)
    (tmp_path / "f").write_text("short\n" + "a" * 1001)
    with pytest.raises(UserError, match=r"f:2: a line of more than 1,000 characters"):
        list(lines(tmp_path / "f"))


def test_of_two_folders_with_the_file_none_is_taken(tmp_path):
    for name in ("a", "b", "c/d"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "corpus.jsonl").write_text("")
    with pytest.raises(UserError, match=r"corpus\.jsonl lies in several folders: a, b; give the one"):
        only_folder_with(tmp_path, "corpus.jsonl")
    assert only_folder_with(tmp_path / "c", "corpus.jsonl") == tmp_path / "c/d"
