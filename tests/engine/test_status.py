"""`make status`."""

import os
import socket
import subprocess
import sys
from dataclasses import replace

import pytest

from ranktrial.common.errors import UserError
from ranktrial.engine import display as state
from scripts.engine.status import current, named, report, state_of
from tests.support.one_line import refused
from tests.workflow.conftest import REPOSITORY

GONE = 2**22 + 1  # above the largest number of a process


def a_run(pid, **fields):
    given = {"host": socket.gethostname(), "rules": {"score": state.Rule("scoring", 2, 30.0)}, **fields}
    return state.Run("tiny", "x.log", 1, pid=pid, started=100.0, **given)


def test_a_run_goes_on_while_its_process_lives():
    lines = report(a_run(os.getpid()), written=1000.0, now=1001.0)
    assert lines[:2] == ["tiny: 2 jobs to do, about 60 s left", "scoring             0 of 2 done, 2 to come"]
    assert lines[2].startswith("running on ") and lines[2].endswith(f"process {os.getpid()}; Snakemake's log: x.log")


@pytest.mark.parametrize(
    ("run", "now", "said"),
    [
        (a_run(GONE), 1001.0, "was killed after"),
        (a_run(GONE, host="elsewhere"), 1001.0, "running on elsewhere"),
        (a_run(GONE, host="elsewhere"), 2000.0, "was killed after"),
        (a_run(GONE, outcome="failed", ended=1000.0), 2000.0, "failed at"),
        (a_run(GONE, outcome="finished", ended=1000.0), 2000.0, "finished at"),
    ],
)
def test_what_became_of_a_run(run, now, said):
    assert state_of(run, written=1000.0, now=now).startswith(said)


def test_bad_configurations_are_one_line(tmp_path):
    with refused("none.yaml: no such file"):
        named(tmp_path / "none.yaml")
    (tmp_path / "nameless.yaml").write_text("depth: 3\n")
    with refused("nameless.yaml: key 'experiment' is missing"):
        named(tmp_path / "nameless.yaml")


def test_the_command_reads_what_a_run_wrote_and_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state.write(a_run(os.getpid()))
    (tmp_path / "tiny.yaml").write_text("experiment: tiny\n")
    command = [sys.executable, REPOSITORY / "scripts/engine/status.py"]
    environment = {"PYTHONPATH": str(REPOSITORY)}
    for chosen in ((), ("--config", "tiny.yaml"), ("--experiment", "tiny")):
        done = subprocess.run([*command, *chosen], env=environment, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("tiny: 2 jobs to do"), done.stderr
        assert "warning" not in done.stdout
    done = subprocess.run([*command, "--experiment", "tinny"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("error: tinny: no run of it")
    assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["tiny.json", "tiny.yaml"]


def test_without_a_name_all_runs_under_way_are_shown_or_the_last(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no run has started"):
        current()
    for name, pid in (("killed", GONE), ("b", os.getpid()), ("a", os.getpid())):
        state.write(replace(a_run(pid), experiment=name))
    assert current() == ["a", "b"]
    for name in ("b", "a"):
        state.write(replace(a_run(GONE), experiment=name))
    os.utime(state.place("b"), (1e9, 1e9))
    assert current() == ["a"]


def test_configurations_that_share_an_experiment_are_named(tmp_path):
    (tmp_path / "config").mkdir()
    for file in ("a.yaml", "b.yaml"):
        (tmp_path / "config" / file).write_text("experiment: tiny\n")
    (tmp_path / "config/c.yaml").write_text("experiment: [\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        state.write(a_run(os.getpid()))
    command = [sys.executable, REPOSITORY / "scripts/engine/status.py", "--experiment", "tiny"]
    environment = {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == (
        "warning: config/a.yaml and config/b.yaml have the same name, experiment: tiny, so they share its results "
        "and this state; give one of them another name"
    )
