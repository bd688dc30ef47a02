"""Zips from strangers that ask for too much, or are not what they say."""

import gzip
import json
import os
import struct
import subprocess
import sys
import zipfile

import pytest

from ranktrial.archive import layout
from ranktrial.archive.integrity import check, unpack, write_zip
from ranktrial.archive.layout import manifest, seal
from ranktrial.archive.recompute import verdicts
from ranktrial.common.errors import UserError
from tests.support import crafted
from tests.support.crafted import METRIC, ROOT, RUN, record, small, with_record
from tests.support.one_line import refused


def zipped(path, entries, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return path


def a_bomb(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("results/small/summary.md", "w") as file,
    ):
        for _ in range(100):
            file.write(bytes(1 << 20))


def zip_of(*entries, method=zipfile.ZIP_DEFLATED):
    return lambda path: zipped(path, entries, method)


def twice(path):
    with pytest.warns(UserWarning, match="Duplicate"):
        zipped(path, [("README.md", "a"), ("README.md", "b")])


def a_symbolic_link(path):
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("README.md")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")


def edited(edit, *entries):
    """A zip whose bytes are changed in place, or replaced."""

    def make(path):
        content = bytearray(zipped(path, entries or [("README.md", "a")]).read_bytes())
        path.write_bytes(edit(content) or content)

    return make


def changed(mark, offset, form, value):
    def edit(content):
        struct.pack_into(form, content, content.index(mark) + offset, value)

    return edited(edit)


def overlap(content):
    """The second member's header is the first's: one content is read twice."""
    second = content.index(b"PK\1\2", content.index(b"PK\1\2") + 4)
    content[second + 42 : second + 46] = struct.pack("<L", 0)


def with_a_gap(content):
    """Bytes between the members and the directory."""
    start, end = content.index(b"PK\1\2"), content.index(b"PK\5\6") + 16
    return content[:start] + b"hidden" + content[start:end] + struct.pack("<L", start + 6) + content[end + 4 :]


ZIPS = {
    "a bomb": (a_bomb, "more than 250 times its size"),
    "many bombs": (lambda path: zipped(path, [(f"results/small/tables/{n}.tsv", bytes(55 << 20)) for n in range(10)]),
                   "more than 250 times its size"),
    "twice": (twice, "duplicate member"),
    "upper case": (zip_of(("README.md", "a"), ("readme.MD", "b")), "upper and lower case only"),
    "file and folder": (zip_of(("config", "a"), ("config/x.yaml", "b")), "is a file and a folder at once"),
    "a folder": (zip_of(("config/", "")), "is a folder"),
    "a symbolic link": (a_symbolic_link, "is a link"),
    "bzip2": (zip_of(("README.md", "a" * 99), method=zipfile.ZIP_BZIP2), "compressed by a method"),
    "encrypted": (changed(b"PK\1\2", 8, "<H", 1), "is encrypted"),
    "unknown method": (changed(b"PK\1\2", 10, "<H", 99), "compressed by method 99"),
    "overlapping": (edited(overlap, ("a.md", "x" * 50), ("b.md", "y" * 50)), "members overlap"),
    "huge size": (changed(b"PK\1\2", 24, "<L", 0xFFFFFFF0), "its size"),
    "many members": (changed(b"PK\5\6", 10, "<H", 0xFFFF), "damaged archive"),
    "no end": (edited(lambda content: content[:-10]), "no end record"),
    "a gap": (edited(with_a_gap), "6 bytes belong to no member"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "said"), ZIPS.values(), ids=ZIPS)
def test_odd_zips_are_refused_before_anything_is_unpacked(tmp_path, make, said):
    make(tmp_path / "x.zip")
    with refused(said):
        check(tmp_path / "x.zip")
    assert [one.name for one in tmp_path.iterdir()] == ["x.zip"]


def test_a_zip_of_more_members_than_any_experiment_has(tmp_path, monkeypatch):
    monkeypatch.setattr(layout, "MEMBERS", 100)
    zipped(tmp_path / "x.zip", [(f"results/small/tables/{n}.tsv", "") for n in range(101)])
    with pytest.raises(UserError, match="states 101 files; at most 100"):
        check(tmp_path / "x.zip")


def test_a_directory_with_more_members_than_it_counts_is_not_read(tmp_path, monkeypatch):
    """The zip module goes by the directory's bytes and lets its count be."""
    monkeypatch.setattr(layout, "DIRECTORY", 1000)
    zipped(tmp_path / "x.zip", [(f"results/small/tables/{n}.tsv", "") for n in range(100)])
    content = bytearray((tmp_path / "x.zip").read_bytes())
    content[-12:-10] = struct.pack("<H", 1)
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(UserError, match="refused"):
        check(tmp_path / "x.zip")


def test_large_incompressible_files_are_read_block_by_block(tmp_path):
    """A file that fits the limits is hashed and unpacked within little memory, whatever its size."""
    name, size = "results/small/models/m/r/seed-0/model.safetensors", 220 << 20
    big = tmp_path / "big"
    with open(big, "wb") as file:
        block = os.urandom(1 << 20)
        for _ in range(220):
            file.write(block)
    made = json.dumps(manifest({name: big}, {}, {}, "small")).encode()
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w"):
        pass
    write_zip(path, {name: big, layout.MANIFEST: made, layout.SEAL: seal(made).encode()})
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (200 << 20,) * 2); sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path; from ranktrial.archive.integrity import check; from ranktrial.archive.integrity import unpack\n"
        "found = check(Path(sys.argv[2])); unpack(Path(sys.argv[2]), Path(sys.argv[3]), found.manifest); print(found.damages)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(ROOT), str(path), str(tmp_path / "a")],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n", done.stderr
    assert (tmp_path / "a" / name).stat().st_size == size


def test_a_run_that_unpacks_to_more_than_any_run(tmp_path):
    files = {**small().files, RUN: gzip.compress(bytes(100 << 20), 9)}
    jobs = record(files, layout.JOBS)
    made = crafted.forged_manifest(files)
    for job in jobs:
        for section in ("inputs", "outputs"):
            job[section] |= {RUN: made["files"][RUN]["sha256"]} if RUN in job[section] else {}
    crafted.unpacked(with_record(files, layout.JOBS, jobs), tmp_path)
    with refused(RUN, "more than 250 times its size"):
        verdicts(tmp_path, made, True)


def test_an_archive_that_the_disk_cannot_hold_is_refused(tmp_path):
    made = record(small().files, layout.MANIFEST)
    made["files"]["README.md"]["bytes"] = 1 << 60
    with pytest.raises(UserError, match=r"bytes; .* has .* left"):
        unpack(small().zip, tmp_path / "a", made)


def test_a_file_that_changes_between_checking_and_unpacking(tmp_path):
    made = check(small().zip).manifest
    other = crafted.resealed({**small().files, METRIC: b"other"}, tmp_path / "x.zip")
    with pytest.raises(UserError, match="changed while it was read"):
        unpack(other, tmp_path / "a", made)


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "pipe"])
def test_an_unpacked_archive_holds_plain_files_only(tmp_path, kind):
    crafted.unpacked(small().files, tmp_path / "a")
    place = tmp_path / "a/results/small/summary.md"
    place.unlink()
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to("/etc/passwd" if kind == "link to a file" else "/etc")
    assert [one for one in check(tmp_path / "a").damages if "summary.md: is " in one]
