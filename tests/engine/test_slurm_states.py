"""What becomes of jobs in the queue: as squeue says, else as another command says, else as their outputs say."""

import asyncio
import os
from types import SimpleNamespace

import pytest

from ranktrial.engine import slurm_states
from ranktrial.engine.slurm_states import UNANSWERED, Listed, States, listed


def test_lines_of_squeue_that_are_no_job_are_passed_over():
    answer = "\nodd\n|\n12|RUNNING|None\n13_2|PENDING|Priority\n14|CANCELLED by 0|None\n"
    assert listed(answer) == {
        "12": Listed("RUNNING", "None"), "13_2": Listed("PENDING", "Priority"), "14": Listed("CANCELLED", "None"),
    }  # fmt: skip


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with one job, 7 in Slurm, whose squeue prints a file and whose other commands know nothing."""
    for name, script in (("squeue", f"cat {tmp_path}/queue"), ("scontrol", "exit 1"), ("sacct", "exit 1")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm_states, "SETTLED", 0.0)
    job = SimpleNamespace(jobid=1, output=[str(tmp_path / "out")])
    info = SimpleNamespace(job=job, external_jobid="7", aux={"slurm_logfile": tmp_path / "7.log"})
    ends, told = [], []
    settings = SimpleNamespace(init_seconds_before_status_checks=10, keep_successful_logs=False)
    executor = SimpleNamespace(
        run_uuid="x", logger=SimpleNamespace(info=told.append), workflow=SimpleNamespace(executor_settings=settings), wait=True,
        report_job_success=lambda info: ends.append("success"),
        report_job_error=lambda info, msg, aux_logs: ends.append(msg),
    )  # fmt: skip
    states = States(executor, SimpleNamespace(known={"7": 0.0}, wake=lambda: None), told.append)
    (tmp_path / "out").write_text("old")
    states.remember([job])

    async def look():
        return [one async for one in states.check([info])]

    return SimpleNamespace(look=lambda: asyncio.run(look()), ends=ends, told=told, folder=tmp_path, states=states)


def test_each_job_that_is_listed_ends_as_listed_and_the_others_say_why_they_wait(run):
    for state, left in (("PENDING|Priority", 1), ("RUNNING|None", 1), ("TIMEOUT|TimeLimit", 0), ("COMPLETED|None", 0)):
        (run.folder / "queue").write_text(f"7|{state}\n")
        assert len(run.look()) == left
    assert run.told[:2] == [{"1": "Priority"}, {"1": ""}]
    assert len(run.ends) == 2 and "'TIMEOUT'" in run.ends[0] and run.ends[1] == "success"


@pytest.mark.parametrize("whole", [True, False])
def test_a_job_that_nobody_knows_ends_as_its_outputs_say(run, whole):
    (run.folder / "queue").write_text("")
    assert run.look() and not run.ends  # one answer is not enough
    if whole:
        (run.folder / "new").write_text("new")
        (run.folder / "new").replace(run.folder / "out")
    assert not run.look()
    assert (run.ends == ["success"]) is whole and len(run.ends) == 1


def test_what_scontrol_knows_comes_before_outputs(run):
    (run.folder / "queue").write_text("")
    (run.folder / "scontrol").write_text("#!/bin/sh\necho JobId=7 JobName=x JobState=COMPLETED Reason=None\n")
    assert run.look() and not run.look() and run.ends == ["success"]


def test_an_unanswered_query_says_nothing_of_a_job(run):
    for _ in range(5):
        assert run.look()  # there is no queue, so squeue fails
    assert not run.ends and run.told == [UNANSWERED] * 5


def test_a_preempted_job_that_does_not_come_back_into_the_queue_failed(run, monkeypatch):
    (run.folder / "queue").write_text("7|PREEMPTED|None\n")
    monkeypatch.setattr(slurm_states, "SETTLED", 60.0)
    assert run.look() and not run.ends
    monkeypatch.setattr(slurm_states, "SETTLED", 0.0)
    assert not run.look() and "'PREEMPTED'" in run.ends[0]


def test_the_pause_between_queries_ends_with_the_run(run):
    run.states.executor.wait, run.states.pause = False, 180.0
    asyncio.run(asyncio.wait_for(run.states.sleep(), 5))
