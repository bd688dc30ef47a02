"""Files and folders appear whole or not at all."""

import os

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder, atomic_text, check_sha256, full_disk_reported


def test_a_file_that_fails_half_way_leaves_the_old_one_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_text(path) as file:
        file.write("half")
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_folder_replaces_the_old_one_as_a_whole(tmp_path):
    for content in ("one", "two"):
        with atomic_folder(tmp_path / "model") as folder:
            (folder / content).write_text(content)
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["two"]
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "model") as folder:
        raise RuntimeError
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["two"]


def test_files_that_a_library_made_for_their_owner_alone_get_the_permissions_of_others(tmp_path):
    mask = os.umask(0o022)
    try:
        with atomic_folder(tmp_path / "model") as folder:
            for name, mode in (("weights", 0o600), ("script", 0o700)):
                (folder / name).touch()
                (folder / name).chmod(mode)
    finally:
        os.umask(mask)
    assert {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "model").iterdir()} == {
        "weights": 0o644, "script": 0o700,
    }  # fmt: skip


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    (tmp_path / ".out.txt.partial").mkdir()
    (tmp_path / ".out.txt.partial" / "out.txt").write_text("half")
    with atomic_text(tmp_path / "out.txt") as file:
        file.write("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_a_wrong_checksum_names_both(tmp_path):
    (tmp_path / "f").write_text("x")
    with pytest.raises(UserError, match=f"archive.zip: SHA-256 is 2d71.* says {'0' * 64}"):
        check_sha256("0" * 64, "archive.zip", tmp_path / "f")


def test_a_full_disk_is_reported_whatever_the_library_raises(tmp_path):
    """safetensors, written in Rust, and torch raise errors of their own."""
    from safetensors import SafetensorError

    with pytest.raises(UserError, match="model: No space left on device"), full_disk_reported(tmp_path / "model"):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
    with pytest.raises(RuntimeError, match="another mistake"), full_disk_reported(tmp_path):
        raise RuntimeError("another mistake")
