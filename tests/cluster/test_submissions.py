"""Submissions on a real Slurm whose commands print lines of a site's own, fail, or refuse: one job on one output."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.cluster.loopback import wait
from tests.cluster.test_faults import MODEL, QUICK_OUTPUT, forget_training, hold_training, start_training, weights

pytestmark = pytest.mark.cluster


@pytest.mark.long
def test_a_job_that_sbatch_took_without_saying_so_is_cancelled_before_the_next(again, finished, wrapped):
    """As after `Socket timed out`: the controller has the job, sbatch reports a failure."""
    forget_training(again)
    late = 'echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2; exit 1'
    wrapped("sbatch", f'"$real" "$@" >$count.out && [ $(cat $count | wc -l) -gt 0 ] && cat $count.out && exit 0\n'
                      f"echo >>$count; sleep 8; {late}")  # fmt: skip
    (pathed := again.folder.parent / "bin" / "sbatch.calls").touch()
    again.finish(again.start(f"results/tiny/{MODEL}"))
    assert pathed.read_text() == "\n"
    assert again.one_at_a_time("fine_tune") == ["CANCELLED", "COMPLETED"]
    (warning,) = again.lines("warning: Slurm takes no more jobs")
    assert "Socket timed out on send/recv operation" in warning
    assert weights(again) == weights(finished)


def test_a_refusal_that_cannot_change_is_one_line_with_its_reason_and_one_attempt(again, wrapped):
    again.edit(r"gpu_model: a100", "gpu_model: h100")
    forget_training(again)
    wrapped("sbatch", 'case "$*" in *h100*) echo >>$count;; esac; exec "$real" "$@"')
    process = again.start(f"results/tiny/{MODEL}")
    assert process.wait() != 0
    assert (again.folder.parent / "bin" / "sbatch.calls").read_text() == "\n"
    (failed,), (error,) = again.lines("failed: "), again.lines("error: ")
    for line in (failed, error):
        assert "sbatch: " in line and "not available" in line and "-p gpu" in line and "--gpus=h100:1" in line
    assert "Traceback" not in again.said()


@pytest.mark.long
@pytest.mark.parametrize("knows", ["scontrol", "nobody"])
def test_a_job_that_slurm_forgets_ends_as_what_it_was(again, wrapped, knows):
    (again.folder / QUICK_OUTPUT).unlink()
    wrapped("squeue", '"$real" "$@" | grep -v COMPLETED; exit 0')
    if knows == "nobody":
        wrapped(
            "scontrol",
            'case "$*" in *"-o show job"*) echo "Invalid job id specified" >&2; exit 1;; esac; exec "$real" "$@"',
        )
    again.finish(again.start(QUICK_OUTPUT))
    assert [one["JobState"] for one in again.records("search")][-1] == "COMPLETED"
    assert len(again.records("search")) == 1


@pytest.mark.long
def test_a_job_that_cannot_start_says_why_it_waits(again):
    (again.folder / QUICK_OUTPUT).unlink()
    again.slurm.ask("scontrol", "update", "PartitionName=cpu", "MaxTime=5")
    try:
        process = again.start(QUICK_OUTPUT, seconds=60)
        shown = [sys.executable, "-P", "-m", "scripts.engine.status", "--experiment", "tiny"]
        waits = "1 waiting (time limit above that of the partition)"
        env = os.environ | {"PYTHONPATH": "."}
        wait(
            lambda: waits in subprocess.run(shown, cwd=again.folder, env=env, capture_output=True, text=True).stdout,
            50, "the reason in make status",
        )  # fmt: skip
        process.wait()
    finally:
        again.slurm.ask("scontrol", "update", "PartitionName=cpu", "MaxTime=2880")
    assert again.lines("warning: 1 in the queue will not start by waiting")
    (warning,) = again.lines("warning: search asks for up to 60 minutes on partition cpu, whose limit is 5 (sinfo)")
    assert warning.endswith("profiles/slurm/config.yaml")
    assert not [one for one in again.records("search") if one["JobState"] in ("PENDING", "RUNNING")]


@pytest.mark.long
def test_a_controller_that_is_away_when_a_job_is_ready_uses_up_no_attempt(again, wrapped, tmp_path):
    (again.folder / QUICK_OUTPUT).unlink()
    wrapped("sbatch", '[ -e $count ] || { touch $count; scontrol shutdown slurmctld; sleep 1; }; exec "$real" "$@"')
    process = again.start(QUICK_OUTPUT, "--retries", "0")
    wait((tmp_path / "bin" / "sbatch.calls").exists, 120, "the first submission")
    time.sleep(60)
    again.slurm.start_controller()
    again.finish(process)
    assert len(again.lines("warning: Slurm takes no more jobs")) == 1
    assert again.states("search")[-1] == "COMPLETED"


@pytest.mark.long
def test_ctrl_c_cancels_all_jobs_and_ends_soon_also_between_two_queries(again, wrapped):
    forget_training(again)
    process, job = start_training(again, MODEL)
    hold_training(again)
    time.sleep(60)  # pauses between queries have grown
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) != 0 and time.monotonic() - began < 15
    wait(lambda: again.states("fine_tune") == ["CANCELLED"], 30, "the cancelled job")
    assert job and "Traceback" not in again.said()
