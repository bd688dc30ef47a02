"""The log that a script writes: all that it and its programs print, shown as well, whatever ends the script."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ranktrial.common.command_line import HEAD, LONGEST_WAIT

REPOSITORY = Path(__file__).parents[2]
SCRIPT = """
import os, signal, subprocess, sys
from ranktrial.common.command_line import parser, run
from ranktrial.common.errors import UserError

def main():
    arguments = parser("a script", settings=False).parse_args()
    print("from Python")
    sys.stdout.flush()
    print("a warning", file=sys.stderr)
    subprocess.run(["sh", "-c", "echo from a program; echo its error >&2"], check=True)
    os.write(2, b"past Python\\n")
    {end}

run(main)
"""
PRINTED = ["from Python", "a warning", "from a program", "its error", "past Python"]


def ran(folder, end, *options, **environment):
    """Run the script with a last statement; its output as Snakemake shows it."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(end=end), *options],
        cwd=folder, env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def body(log):
    return log.read_text().splitlines()[len(HEAD) :]


def test_all_that_is_printed_is_in_the_log_and_shown(tmp_path):
    done = ran(tmp_path, "print('at the end')", "--log", "logs/a.log")
    assert done.returncode == 0
    assert body(tmp_path / "logs/a.log") == done.stdout.splitlines() == [*PRINTED, "at the end"]


def test_the_head_says_where_the_job_ran(tmp_path):
    ran(tmp_path, "pass", "--log", "a.log", SLURM_JOB_ID="4711")
    head = (tmp_path / "a.log").read_text().splitlines()[: len(HEAD)]
    assert head[:2] == [f"host: {socket.gethostname()}", "slurm job: 4711"] and head[2].startswith("driver: ")
    environment = {name: value for name, value in os.environ.items() if name != "SLURM_JOB_ID"}
    subprocess.run([sys.executable, "-c", SCRIPT.format(end="pass"), "--log", "a.log"], cwd=tmp_path,
                   env=environment | {"PYTHONPATH": str(REPOSITORY)}, check=True, capture_output=True)  # fmt: skip
    assert "slurm job: none" in (tmp_path / "a.log").read_text()


@pytest.mark.parametrize(
    ("end", "last"),
    [
        ("raise UserError('x.yaml: key y')", "error: x.yaml: key y"),
        ("open('gone')", "error: gone: No such file or directory"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("sys.exit('stopped')", "stopped"),
    ],
)
def test_a_failure_is_the_last_line_of_both(tmp_path, end, last):
    done = ran(tmp_path, end, "--log", "a.log")
    assert done.returncode == 1
    assert body(tmp_path / "a.log") == done.stdout.splitlines() and done.stdout.splitlines()[-1] == last


def test_what_was_printed_before_a_script_is_killed_is_in_both(tmp_path):
    done = ran(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", "--log", "a.log")
    assert done.returncode == -signal.SIGKILL and done.stdout.splitlines() == PRINTED == body(tmp_path / "a.log")


def test_a_mistake_in_the_options_is_in_both(tmp_path):
    done = ran(tmp_path, "pass", "--log", "a.log", "--unknown")
    assert done.returncode == 2 and "unrecognized arguments: --unknown" in done.stdout
    assert body(tmp_path / "a.log") == done.stdout.splitlines()


def test_a_log_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "logs").write_text("no folder")
    done = ran(tmp_path, "pass", "--log", "logs/a.log")
    assert done.returncode == 1 and done.stdout.startswith("error: logs/a.log: cannot be written: ")


def test_much_output_is_complete(tmp_path):
    done = ran(tmp_path, "[os.write(1, b'x' * 99 + b'\\n') for _ in range(20000)]", "--log", "a.log")
    assert done.returncode == 0 and body(tmp_path / "a.log") == done.stdout.splitlines()
    assert len(done.stdout) > 20000 * 100


def test_a_program_that_lives_on_holds_the_script_up_for_seconds_only(tmp_path):
    started = time.monotonic()
    shorter = "import ranktrial.common.command_line as at; at.LONGEST_WAIT = 1"
    script = SCRIPT.format(end=f"{shorter}; subprocess.Popen(['sleep', '30'], start_new_session=True)")
    with open(tmp_path / "shown", "w") as shown:
        done = subprocess.run([sys.executable, "-c", script, "--log", "a.log"], cwd=tmp_path, stdout=shown,
                              stderr=shown, env=os.environ | {"PYTHONPATH": str(REPOSITORY)})  # fmt: skip
    assert done.returncode == 0 and 1 < time.monotonic() - started < LONGEST_WAIT + 20
    assert body(tmp_path / "a.log") == PRINTED


def test_a_new_log_takes_the_place_of_the_old_one(tmp_path):
    (tmp_path / "a.log").write_text("of an earlier attempt\n" * 100)
    ran(tmp_path, "pass", "--log", "a.log")
    assert "earlier" not in (tmp_path / "a.log").read_text()
