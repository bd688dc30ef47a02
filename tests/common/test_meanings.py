"""What a source means is kept for exactly its text, and what is kept is what would be found."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from ranktrial.common.job_code import meaning

ROOT = Path(__file__).parents[2]
TEXT = '"""A module."""\nfrom scripts.a import b\n\nLIMIT = 1\n'


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A source, where meanings are kept whatever the shell sets."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "one.py"
    path.write_text(TEXT)
    return path


def kept(source):
    return list((source.parent / "__pycache__").glob("*"))


def test_kept_meanings_are_those_that_are_found(tmp_path, monkeypatch):
    folder = shutil.copytree(
        ROOT / "ranktrial" / "engine", tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    paths = sorted(folder.rglob("*.py"))
    found = [meaning(path) for path in paths]
    assert len(list(folder.rglob("*.meaning"))) == len(paths) > 10
    assert [meaning(path) for path in paths] == found and len({one.digest for one in found}) > 10


def test_a_kept_meaning_is_read_and_not_found_again(source, monkeypatch):
    found = meaning(source)
    monkeypatch.setattr("ranktrial.common.job_code._found", lambda tree: pytest.fail("found again"))
    assert meaning(source) == found and found.names == ("scripts.a", "scripts.a.b")


def test_an_edit_that_keeps_size_and_dates_is_seen(source):
    before, found = os.stat(source), meaning(source)
    source.write_text(TEXT.replace("1", "2"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    edited = meaning(source)
    assert edited.digest != found.digest
    source.write_text(TEXT)
    assert meaning(source) == found


@pytest.mark.parametrize("place", range(0, 160, 9))
def test_what_is_damaged_or_cut_off_is_found_anew(source, place):
    found = meaning(source)
    (path,) = kept(source)
    content = path.read_bytes()
    for damaged in (content[:place], content[:place] + b"?" + content[place + 1 :], content[:place] + b"\xff"):
        path.write_bytes(damaged)
        assert meaning(source) == found
        assert path.read_bytes() == content


def test_of_another_finder_none_is_taken(source, monkeypatch):
    meaning(source)
    (path,) = kept(source)
    content = path.read_bytes()
    monkeypatch.setattr("ranktrial.common.job_code._finder", lambda: b"another")
    meaning(source)
    assert path.read_bytes() != content


def test_none_is_kept_where_python_keeps_no_compiled_modules_or_the_folder_cannot_be_made(source, monkeypatch):
    (source.parent / "__pycache__").write_text("a file")
    found = meaning(source)
    (source.parent / "__pycache__").unlink()
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert meaning(source) == found and kept(source) == []
