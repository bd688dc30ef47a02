"""The peak memory of a job is its own, whatever the process that started it holds."""

import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ranktrial.common import timing
from ranktrial.common.timing import STATUS, machine, peak_rss_bytes

ROOT = Path(__file__).parents[2]
HELD = 400 << 20  # bytes


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux counts the memory of a process apart")
def test_a_job_is_not_charged_with_what_its_parent_holds():
    held = np.ones(HELD, np.uint8)
    asked = "from ranktrial.common.timing import peak_rss_bytes; print(peak_rss_bytes())"
    command = f"set -euo pipefail; {sys.executable} -c '{asked}'"  # as Snakemake starts a job
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 5e6 < int(done.stdout) < 100e6 < held.nbytes
    assert peak_rss_bytes() >= held.nbytes
    assert machine()["peak_rss_bytes"] >= held.nbytes


def test_what_linux_counts_is_read(tmp_path):
    (tmp_path / "status").write_text("Name:\tpython\nVmPeak:\t  99999 kB\nVmHWM:\t   12345 kB\nVmRSS:\t   100 kB\n")
    assert peak_rss_bytes(tmp_path / "status") == 12345 * 1024


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_elsewhere_getrusage_tells_it(tmp_path, monkeypatch, platform, unit):
    monkeypatch.setattr(timing.sys, "platform", platform)
    for status in (tmp_path / "absent", tmp_path / "empty"):
        (tmp_path / "empty").write_text("")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert before * unit <= peak_rss_bytes(status) <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
