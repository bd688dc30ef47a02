"""Packages by pip from a folder in place of an index: wheels, source packages as they are, and nothing that runs."""

import io
import tarfile
import zipfile

import pytest

from ranktrial.common.errors import UserError
from ranktrial.common.files import sha256
from ranktrial.common.unpacking import opened
from scripts.datasets.fetch import fetch

METADATA = "Metadata-Version: 2.1\nName: toy-data\nVersion: 1.2\n"


@pytest.fixture
def links(tmp_path, monkeypatch):
    """A folder with the source package of toy-data 1.2, whose setup.py and build system both leave a mark."""
    folder, mark = tmp_path / "links", tmp_path / "it-ran"
    folder.mkdir()
    runs = f"open({str(mark)!r}, 'w').close()\n"
    setup = f"{runs}from setuptools import setup\nsetup(name='toy-data', version='1.2')\n"
    backend = f"{runs}def prepare_metadata_for_build_wheel(*_): raise SystemExit('built')\n"
    project = "[build-system]\nrequires = []\nbuild-backend = 'inside'\nbackend-path = ['.']\n"
    files = {
        "setup.py": setup,
        "inside.py": backend,
        "pyproject.toml": project,
        "PKG-INFO": METADATA,
        "data/a.txt": "hello\n",
    }
    with tarfile.open(folder / "toy_data-1.2.tar.gz", "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"toy_data-1.2/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    yield folder
    assert not mark.exists(), "code of the package has run"


def wheel(folder):
    path = folder / "toy_data-1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("toy_data-1.2.dist-info/METADATA", METADATA)
        archive.writestr(
            "toy_data-1.2.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("toy_data-1.2.dist-info/RECORD", "")
    return path


def test_a_source_package_is_taken_as_it_is_and_unpacked(links, tmp_path):
    source = links / "toy_data-1.2.tar.gz"
    for checksum in (None, sha256(source)):
        fetch(tmp_path / "got", "pypi:toy-data==1.2", checksum, [])
        assert (tmp_path / "got").read_bytes() == source.read_bytes()
        (tmp_path / "got").unlink()
    with opened(source) as root:
        assert (root / "toy_data-1.2/data/a.txt").read_text() == "hello\n"


def test_of_both_kinds_the_one_with_the_checksum_is_taken_and_a_wheel_without(links, tmp_path):
    made, source = wheel(links), links / "toy_data-1.2.tar.gz"
    for checksum, wanted in ((None, made), (sha256(made), made), (sha256(source), source)):
        fetch(tmp_path / "got", "pypi:toy-data==1.2", checksum, [])
        assert (tmp_path / "got").read_bytes() == wanted.read_bytes()
        (tmp_path / "got").unlink()


def test_another_checksum_and_another_version_are_one_line_each_and_leave_nothing(links, tmp_path):
    expected = f"pypi:toy-data==1.2: pip cannot fetch it: .*Expected sha256 {'0' * 64} Got {sha256(links / 'toy_data-1.2.tar.gz')}$"
    with pytest.raises(UserError, match=expected):
        fetch(tmp_path / "got", "pypi:toy-data==1.2", "0" * 64, [])
    with pytest.raises(
        UserError, match=r"^pypi:toy-data==1.3: pip cannot fetch it: No matching distribution found[^\n]*$"
    ):
        fetch(tmp_path / "got", "pypi:toy-data==1.3", None, [])
    assert [path.name for path in tmp_path.iterdir()] == ["links"]
