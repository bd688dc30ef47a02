"""One run of an experiment at a time: processes that start together, killed ones, other machines, suspended ones."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ranktrial.common.digests import RUN
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_text
from ranktrial.engine import run_lock
from ranktrial.engine.run_lock import RunLock

REPOSITORY = Path(__file__).parents[2]
TAKE = """
import sys, time
from pathlib import Path
from ranktrial.engine import run_lock
from ranktrial.engine.run_lock import RunLock
run_lock.RENEWED = 0.1
from ranktrial.common.errors import UserError
lock = RunLock(Path(sys.argv[1]), "tiny")
time.sleep(max(float(sys.argv[2]) - time.time(), 0))
try:
    lock.acquire()
except UserError as error:
    print(error, flush=True)
    sys.exit(3)
print("taken" if lock.taken_over is None else f"taken over from {lock.taken_over.pid}", flush=True)
time.sleep(float(sys.argv[3]))
lock.release()
"""


def start(folder: Path, at: float = 0.0, seconds: float = 60.0) -> subprocess.Popen:
    command = [sys.executable, "-c", TAKE, str(folder), str(at), str(seconds)]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen) -> str:
    return process.stdout.readline().strip()


def test_of_several_that_start_at_the_same_instant_one_runs(tmp_path):
    both = [start(tmp_path, time.time() + 1.5, 2.0) for _ in range(4)]
    said = [first_line(one) for one in both]
    assert said.count("taken") == 1
    assert sum(line.startswith("is running already (") for line in said) == 3
    for one in both:
        one.wait(20)
    assert sorted(one.returncode for one in both) == [0, 3, 3, 3]


def test_one_that_ended_leaves_nothing_to_take_over(tmp_path):
    for _ in range(2):
        one = start(tmp_path, seconds=0)
        assert first_line(one) == "taken" and one.wait(20) == 0
    assert not list(tmp_path.glob("*.holder"))


def test_a_killed_one_is_named_and_its_locks_of_snakemake_are_removed(tmp_path):
    one = start(tmp_path)
    assert first_line(one) == "taken"
    one.kill()
    one.wait()
    left = tmp_path / "0.input.lock"
    left.write_text("a")
    record = tmp_path / "tiny.holder"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"locks": [str(left)]}))
    lock = RunLock(tmp_path, "tiny")
    lock.sweep()
    assert not left.exists() and lock.holder().pid == one.pid
    other = start(tmp_path, seconds=0)
    assert first_line(other) == f"taken over from {one.pid}" and other.wait(20) == 0


WITH_JOB = f"import subprocess; {TAKE}".replace(
    "time.sleep(float(sys.argv[3]))",
    "job = subprocess.Popen(['sleep', '100'], start_new_session=True); print(job.pid, flush=True); job.wait()",
)


def test_the_jobs_of_a_killed_one_end_with_the_next(tmp_path):
    one = subprocess.Popen(
        [sys.executable, "-c", WITH_JOB, str(tmp_path), "0"], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    )
    assert first_line(one) == "taken"
    pid = int(first_line(one))
    one.kill()
    one.wait()
    assert run_lock._begun(pid)
    lock = RunLock(tmp_path, "tiny")
    lock.acquire()
    end = time.monotonic() + 20
    while run_lock._begun(pid):
        assert time.monotonic() < end
        time.sleep(0.01)
    lock.release()


def test_a_job_writes_nothing_once_another_run_began(tmp_path, monkeypatch):
    """Wherever it runs, and also if the other run has already ended."""

    def write() -> None:
        with atomic_text(tmp_path / "output") as file:
            file.write("x")

    write()  # without a run, as by hand
    lock = RunLock(tmp_path, "tiny")
    lock.acquire()
    write()
    run = os.environ[RUN]
    lock.leaves([])  # its record is written anew
    write()
    lock.release()
    assert RUN not in os.environ
    (tmp_path / "output").unlink()
    monkeypatch.setenv(RUN, run)
    refused = pytest.raises(UserError, match="the run that started this job has ended")
    with refused:
        write()
    elsewhere(tmp_path, 0)
    with refused:
        write()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.holder", "tiny.lock"]


def elsewhere(folder: Path, age: float) -> None:
    """The record of a run on another machine, renewed some time ago, whose lock this machine does not see."""
    record = {"host": "node7", "pid": 12, "user": "ann", "begun": "1", "token": "other"}
    (folder / "tiny.holder").write_text(json.dumps(record))
    os.utime(folder / "tiny.holder", (time.time() - age,) * 2)


def test_one_on_another_machine_is_dead_when_it_has_been_silent(tmp_path):
    lock = RunLock(tmp_path, "tiny")
    elsewhere(tmp_path, 60)
    with pytest.raises(UserError, match=r"is running already \(process 12 of ann on node7\)"):
        lock.acquire()
    elsewhere(tmp_path, 130)
    lock.acquire()
    assert lock.taken_over.host == "node7" and lock.still_mine()
    lock.release()


def test_one_that_was_suspended_and_taken_for_dead_ends(tmp_path):
    one = start(tmp_path)
    assert first_line(one) == "taken"
    one.send_signal(signal.SIGSTOP)
    elsewhere(tmp_path, 0)  # as another machine writes it, which saw no renewal
    one.send_signal(signal.SIGCONT)
    assert one.wait(20) == 1
    assert one.stderr.read() == (
        "error: tiny: process 12 of ann on node7 has taken this run for dead and goes on in its place; this one ends\n"
    )
    assert json.loads((tmp_path / "tiny.holder").read_text())["token"] == "other"


def test_a_damaged_record_counts_as_none(tmp_path):
    (tmp_path / "tiny.holder").write_text("{")
    lock = RunLock(tmp_path, "tiny")
    lock.acquire()
    assert lock.still_mine() and lock.taken_over is None
    lock.release()


def test_the_clock_of_this_machine_does_not_matter(tmp_path, monkeypatch):
    """Age is taken on the file system's clock."""
    elsewhere(tmp_path, 60)
    monkeypatch.setattr(time, "time", lambda: 1e12)
    with pytest.raises(UserError, match="node7"):
        RunLock(tmp_path, "tiny").acquire()


def test_a_process_of_the_same_number_that_began_later_is_another(tmp_path):
    record = {"host": run_lock.socket.gethostname(), "pid": os.getpid(), "user": "ann", "begun": "1", "token": "other"}
    (tmp_path / "tiny.holder").write_text(json.dumps(record))
    lock = RunLock(tmp_path, "tiny")
    lock.acquire()
    assert lock.taken_over.token == "other"
    lock.release()
