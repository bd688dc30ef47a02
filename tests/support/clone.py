"""A clone with a few outputs in it, as jobs write them, and ways to damage them."""

import os
from pathlib import Path

import pytest

from ranktrial.common import digests
from ranktrial.common.files import atomic_folder, atomic_text

METRICS = Path("results/tiny/metrics/weather/a/seed-0.tsv")
MODEL = Path("results/tiny/models/bert/hard/seed-1")


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """An empty clone in which jobs work."""
    (tmp_path / "clone").mkdir()
    monkeypatch.chdir(tmp_path / "clone")
    yield tmp_path / "clone"
    digests.EXPECTED.clear()


def write(path, content="query_id\tP@1\nq1\t1.0\n"):
    with atomic_text(path) as file:
        file.write(content)


def write_model(path=MODEL):
    with atomic_folder(path) as folder:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(bytes(range(256)) * 4096)
    (path / ".snakemake_timestamp").touch()  # as Snakemake does after the job


def flip(path):
    """Change one bit and keep size and dates."""
    before = os.stat(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
