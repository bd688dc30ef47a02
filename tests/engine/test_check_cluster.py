"""`make check-cluster` with an sbatch of ours: one question per kind of job, sbatch's reason, and the exit code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.engine import check_cluster

REPOSITORY = Path(__file__).parents[2]
SBATCH = """#!/bin/sh
echo "$@" >>"$ASKED"
case "$*" in *gpu*) echo "allocation failure: Requested node configuration is not available" >&2; exit 1;; esac
echo "sbatch: Job 3 to start at 2026-01-01T00:00:00" >&2
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.delenv("RANKTRIAL_DEVICE", raising=False)
    return tmp_path / "asked"


def check(**variables):
    command = [sys.executable, "scripts/engine/check_cluster.py"]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)} | variables
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)


def test_each_kind_is_asked_for_once_and_a_refusal_has_sbatchs_reason(asked):
    done = check()
    lines = asked.read_text().splitlines()
    assert len(lines) == len(set(lines)) == len(done.stdout.splitlines())
    assert all(line.startswith("--test-only --partition=") for line in lines)
    training = next(line for line in lines if "--signal=B:URG@120" in line)
    assert "--partition=gpu" in training and "--gpus=a100:1" in training and "--mem=16000 --time=720" in training
    for line in done.stdout.splitlines():
        refused = "refused: " in line and line.endswith(": Requested node configuration is not available")
        assert refused == ("--gpus" in line) and (refused or line.startswith("ok: "))
    assert done.returncode == 1 and done.stderr.startswith("error: Slurm would refuse these jobs: edit the block")
    assert "Traceback" not in done.stderr


def test_with_the_device_cpu_no_gpu_is_asked_for(asked):
    done = check(RANKTRIAL_DEVICE="cpu")
    assert done.returncode == 0 and "gpu" not in asked.read_text(), done.stdout


def test_a_machine_without_slurm_is_one_line(tmp_path):
    done = check(PATH=str(tmp_path))
    assert done.returncode == 1
    said = "error: sbatch: no such command on this machine; make check-cluster needs Slurm's"
    assert done.stderr.splitlines()[-1] == said and "Traceback" not in done.stderr


def test_the_kinds_cover_every_rule_of_the_profile():
    default, rules = check_cluster.parsed(REPOSITORY / check_cluster.PROFILE)
    covered = [rule for one in check_cluster.kinds(REPOSITORY / check_cluster.PROFILE) for rule in one.rules]
    assert sorted(covered) == sorted(["all other rules", *rules]) and default
