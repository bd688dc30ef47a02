"""A sealed zip: the same bytes for the same content, and no byte of it can change unnoticed."""

import json
import shutil
import zipfile

import pytest

from ranktrial.archive import layout
from ranktrial.archive.integrity import check, unpack, write_zip
from ranktrial.archive.layout import manifest, seal
from ranktrial.common.errors import UserError

FILES = {"README.md": b"read me\n", "results/x/metrics/t/s/seed-0.tsv": b"query_id\tnDCG@10\nq1\t0.5\n" * 5,
         "results/x/runs/t/s/seed-0.trec.gz": bytes(range(200)), "results/x/logs/empty.log": b""}  # fmt: skip


@pytest.fixture
def sealed(tmp_path):
    made = json.dumps(manifest(FILES, {}, {}, "x")).encode()
    path = tmp_path / "x.zip"
    write_zip(path, {**FILES, layout.MANIFEST: made, layout.SEAL: seal(made).encode()})
    return path


def test_the_same_content_is_the_same_bytes(sealed, tmp_path):
    with zipfile.ZipFile(sealed) as archive:
        content = {name: archive.read(name) for name in reversed(archive.namelist())}
    write_zip(tmp_path / "again.zip", content)
    assert (tmp_path / "again.zip").read_bytes() == sealed.read_bytes()
    assert check(sealed).damages == []


def test_every_single_byte_counts(sealed, tmp_path):
    """All of the zip: contents, headers, directory, comment; some flips make it no zip at all."""
    content = sealed.read_bytes()
    changed = tmp_path / "changed.zip"
    for position in range(len(content)):
        changed.write_bytes(content[:position] + bytes([content[position] ^ 0x10]) + content[position + 1 :])
        try:
            assert check(changed).damages, f"byte {position} of {len(content)}"
        except UserError as error:
            assert str(error).startswith(f"{changed}: ")


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_named(sealed, tmp_path, name):
    with zipfile.ZipFile(sealed) as archive:
        content = {one: archive.read(one) for one in archive.namelist()}
    content[name] += b"x"
    write_zip(tmp_path / "changed.zip", content)
    assert check(tmp_path / "changed.zip").damages == [f"{name}: changed, SHA-256 differs from the manifest's"]


def test_what_is_added_or_taken_away_is_named(sealed, tmp_path):
    with zipfile.ZipFile(sealed) as archive:
        content = {one: archive.read(one) for one in archive.namelist() if one != "results/x/logs/empty.log"}
    write_zip(tmp_path / "changed.zip", content | {"extra.txt": b""})
    assert check(tmp_path / "changed.zip").damages == [
        "results/x/logs/empty.log: missing",
        "extra.txt: not in the manifest",
    ]


@pytest.mark.parametrize("place", ["before", "after"])
def test_bytes_around_the_zip(sealed, place):
    content = sealed.read_bytes()
    sealed.write_bytes(b"x" + content if place == "before" else content + b"x")
    if place == "before":
        with pytest.raises(UserError, match="1 bytes belong to no member of its directory"):
            check(sealed)
    else:
        assert any("seal" in said for said in check(sealed).damages)


def test_the_side_file_is_held_against_the_archive(sealed):
    sealed.with_name("x.zip.sha256").write_text("0" * 64 + "  x.zip\n")
    assert ["x.zip.sha256" in said for said in check(sealed).damages] == [True]


def test_an_unpacked_archive_may_hold_no_link(sealed, tmp_path):
    unpack(sealed, tmp_path / "folder", check(sealed).manifest)
    assert check(tmp_path / "folder").damages == []
    (tmp_path / "folder/results/x/logs/empty.log").unlink()
    (tmp_path / "folder/results/x/logs/empty.log").symlink_to("/dev/null")
    assert check(tmp_path / "folder").damages == ["results/x/logs/empty.log: is a link, which no archive holds"]


def test_no_member_leaves_the_folder(tmp_path):
    files = {"../outside.txt": b"x"}
    made = manifest(files, {}, {}, "x")
    text = json.dumps(made).encode()
    write_zip(tmp_path / "bad.zip", {**files, layout.MANIFEST: text, layout.SEAL: seal(text).encode()})
    for read in (check, lambda path: unpack(path, tmp_path / "folder", made)):
        with pytest.raises(UserError, match=r"refused, '../outside.txt' would leave the archive's folder"):
            read(tmp_path / "bad.zip")
    assert not (tmp_path / "outside.txt").exists()


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (None, "no such file or folder"),
        ("text", "not an archive: not a readable zip file"),
        ("zip", "not an archive of ranktrial: it has no manifest.json"),
        ("version", "format 'ranktrial-archive/0'; this version reads 'ranktrial-archive/2'"),
    ],
)
def test_what_is_no_archive_is_refused_in_one_line(tmp_path, made, said):
    path = tmp_path / "x.zip"
    if made == "text":
        path.write_text("no zip")
    elif made == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x", "x")
    elif made == "version":
        old = json.dumps({"format": "ranktrial-archive/0"}).encode()
        write_zip(path, {layout.MANIFEST: old, layout.SEAL: seal(old).encode()})
    with pytest.raises(UserError, match=said) as error:
        check(path)
    assert "\n" not in str(error.value)
    shutil.rmtree(tmp_path)
