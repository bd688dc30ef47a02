"""The growth of stages: all run on small corpora, and exponents are those of times that are known."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmark.growth import Taken, exponents

ROOT = Path(__file__).parents[2]


def test_exponents_are_of_what_grows_beyond_the_start():
    taken = [Taken("linear", n, 2 + n / 1000, 100) for n in (10, 1000, 10_000, 100_000)]
    taken += [Taken("square", n, 1 + (n / 1000) ** 2, 100) for n in (10, 1000, 10_000)]
    taken += [Taken("constant", n, 3, 100) for n in (10, 1000, 10_000)]
    found = exponents(taken)
    assert found.keys() == {"linear", "square"}
    assert found["linear"] == pytest.approx(1, abs=0.01) and found["square"] == pytest.approx(2, abs=0.01)


@pytest.mark.long
def test_every_stage_runs(tmp_path):
    command = [sys.executable, "-m", "tests.benchmark.growth", "20", "--folder", str(tmp_path / "growth")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    reported = json.loads((tmp_path / "growth" / "growth.json").read_text())["taken"]
    stages = ["prepare", "index", "search", "negatives", "train", "passages", "encode", "retrieve", "rerank", "score"]
    assert [(one["stage"], one["documents"]) for one in reported] == [(stage, 20) for stage in stages]
    assert all(one["seconds"] > 0 and one["peak_rss_mb"] > 10 for one in reported)
    assert (tmp_path / "growth" / "growth.png").read_bytes()[:4] == b"\x89PNG"
