"""What sbatch printed: an id, a refusal that passes, or one that does not; what a job's script becomes."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from ranktrial.common.processes import passes
from ranktrial.engine import slurm_submission
from ranktrial.engine.slurm_submission import STEP, Submissions, job_line, queued, reason_of, request, without_step


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        ("125\n", "125"),
        ("125;loopback\n", "125;loopback"),
        ("Project lab: 1500 node-hours left, valid until 2027\n125\n", "125"),
        ("125\nProject lab: 1500 node-hours left\n", "125"),
        ("Submitted batch job 125\n", None),
        ("1500 node-hours\n", None),
        ("", None),
    ],
)
def test_the_id_is_the_line_of_parsables_form_alone(printed, line):
    assert job_line(printed) == line


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        ("sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)", True),
        ("sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)", True),
        ("sbatch: error: AssocGrpSubmitJobsLimit", True),
        ("sbatch: error: QOSMaxMemoryPerJob\nsbatch: error: Batch job submission failed: Job violates "
         "accounting/QOS policy (job submit limit, user's size and/or time limits)", False),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", True),
        ("sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)", True),
        ("sbatch: error: Batch job submission failed: Resource temporarily unavailable", True),
        ("sbatch: error: Batch job submission failed: Requested node configuration is not available", False),
        ("sbatch: error: invalid partition specified: nosuch", False),
        ("sbatch: error: Batch job submission failed: Invalid account or account/partition combination", False),
        ("sbatch: error: Memory specification can not be satisfied", False),
        ("sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)",
         False),
        ("sbatch: error: your project has ended", False),
    ],
)  # fmt: skip
def test_limits_on_the_number_of_jobs_and_a_controller_that_is_away_pass(errors, expected):
    assert passes(errors) is expected


def test_a_refusal_is_one_line_with_the_options_on_which_it_may_depend():
    errors = "sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid\n"
    assert reason_of(1, "", errors) == "invalid partition specified: x; Invalid"
    assert reason_of(1, "", "") == "exit code 1 without a reason"
    assert reason_of(0, "thank\nyou\n", "") == "no job id in what it printed: thank you"
    call = "sbatch --parsable --job-name x  -A 'my lab' -p gpu -t 60 --mem 9 --gpus=a100:1 -D /p --wrap=\"a -p b\""
    assert request(call) == "-A my lab -p gpu -t 60 --mem 9 --gpus=a100:1"


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """A queue in a file, of which squeue, scancel and sbatch are scripts."""
    (tmp_path / "queue").touch()

    def write(name, script):
        (tmp_path / name).write_text(f"#!/bin/sh\ncd {tmp_path}\n{script}\n")
        (tmp_path / name).chmod(0o755)

    write("squeue", "cat queue")
    write("scancel", 'echo "$@" >>cancelled; for job; do sed -i "/^$job /d" queue; done')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(slurm_submission, "FIRST", 0.01)
    return write


def an_executor(warned):
    pool = ThreadPoolExecutor(2)
    return SimpleNamespace(run_uuid="x_1", logger=SimpleNamespace(warning=warned.append), _job_submission_executor=pool)


def test_lines_of_the_queue_that_are_no_job_are_passed_over(commands, tmp_path):
    (tmp_path / "queue").write_text("12  \n\nodd\n|\n9 x_1\n10 x_12\n")
    assert queued("x_") == ["9", "10"] and queued("x_1", whole=True) == ["9"] and queued("y") == []


def test_a_job_that_was_taken_without_an_id_is_cancelled_before_the_next(commands, tmp_path):
    commands(
        "sbatch",
        """
        echo >>calls; n=$(wc -l <calls)
        echo "$n x_1" >>queue
        [ $n -lt 3 ] && echo "sbatch: error: Socket timed out" >&2 && exit 1
        echo "quota 7 of 9"; echo $n""",
    )
    warned = []
    submissions = Submissions(an_executor(warned))
    assert submissions.submit("sbatch", None) == (0, "3", "")
    assert (tmp_path / "cancelled").read_text() == "1\n2\n" and (tmp_path / "queue").read_text() == "3 x_1\n"
    assert len(warned) == 1 and "Socket timed out" in warned[0]
    assert list(submissions.known) == ["3"]


def test_a_refusal_that_cannot_change_is_tried_once(commands, tmp_path):
    commands("sbatch", 'echo >>calls; echo "sbatch: error: invalid partition specified: y" >&2; exit 1')
    submissions = Submissions(an_executor([]))
    code, line, _ = submissions.submit("sbatch -p y", None)
    assert code == 1 and not line and (tmp_path / "calls").read_text() == "\n"
    assert list(submissions.refused.values()) == ["sbatch: invalid partition specified: y (-p y)"]


def test_the_end_of_a_run_ends_waiting_submissions_and_all_jobs_of_its_name(commands, tmp_path, monkeypatch):
    monkeypatch.setattr(slurm_submission, "FIRST", 600.0)
    commands("sbatch", 'echo "sbatch: error: AssocMaxSubmitJobLimit" >&2; exit 1')
    executor = an_executor([])
    submissions = Submissions(executor)
    waiting = [executor._job_submission_executor.submit(submissions.submit, "sbatch", None) for _ in range(3)]
    (tmp_path / "queue").write_text("4 x_1\n5 x_12\n")
    submissions.known["4"] = 0.0
    timer = threading.Timer(0.5, submissions.end)
    timer.start()
    assert [one.result(timeout=30)[2] for one in waiting[:2]] == ["the run ends"] * 2
    timer.join()
    assert (tmp_path / "cancelled").read_text() == "4\n"


def test_a_refused_submission_is_tried_again_as_soon_as_a_job_has_ended(commands, tmp_path, monkeypatch):
    monkeypatch.setattr(slurm_submission, "FIRST", 600.0)
    commands(
        "sbatch",
        '[ -e room ] && echo 6 && exit 0; touch full; echo "sbatch: error: AssocMaxSubmitJobLimit" >&2; exit 1',
    )
    executor = an_executor([])
    submissions = Submissions(executor)
    waiting = executor._job_submission_executor.submit(submissions.submit, "sbatch", None)
    while not (tmp_path / "full").exists():
        time.sleep(0.01)
    (tmp_path / "room").touch()
    while not waiting.done():
        submissions.wake()
        time.sleep(0.01)
    assert waiting.result() == (0, "6", "")


REPOSITORY = Path(__file__).parents[2]
COMMAND = f"/v/python -m snakemake --cores all{STEP} --mode remote"


def test_a_command_takes_the_place_of_the_jobs_script_and_starts_no_step():
    direct = "exec /v/python -m snakemake --cores all --mode remote"
    assert without_step(f'sbatch -p x --wrap="{COMMAND}"', None) == (f'sbatch -p x --wrap="{direct}"', None)
    script = f"#!/bin/sh\n{COMMAND}"
    assert without_step("sbatch /dev/stdin", script) == ("sbatch /dev/stdin", f"#!/bin/sh\n{direct}")


def test_the_tasks_of_an_array_find_their_commands_by_the_plugin():
    call = f'sbatch --array=1-2 --wrap="{COMMAND}"'
    assert without_step(call, None) == (call, None)


@pytest.mark.parametrize("times", [1, 2])
def test_a_warning_to_the_script_reaches_the_processes_below_it(times, tmp_path):
    """Through a shell, as Snakemake starts commands; also a second one."""
    below = f"import signal; print(signal.sigwait({{signal.SIGURG}}).name, file=open('{tmp_path}/got', 'a'))"
    waits = f"{sys.executable} -c \"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGURG}}); \
open('{tmp_path}/ready', 'a').write('x'); {below}\""
    above = (
        "import subprocess, sys; from ranktrial.engine.slurm_submission import pass_on_warnings; pass_on_warnings()\n"
    )
    above += "for _ in range(int(sys.argv[2])): subprocess.run(['bash', '-c', sys.argv[1] + '; true'])"
    process = subprocess.Popen([sys.executable, "-c", above, waits, str(times)], cwd=REPOSITORY, start_new_session=True)
    try:
        for number in range(times):
            ready = tmp_path / "ready"
            deadline = time.monotonic() + 60
            while not ready.exists() or len(ready.read_text()) <= number:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.02)
            os.kill(process.pid, signal.SIGURG)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
    assert (tmp_path / "got").read_text() == "SIGURG\n" * times
