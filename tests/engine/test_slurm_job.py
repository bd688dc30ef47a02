"""A job's script becomes its command, and passes Slurm's warning on to the processes below it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ranktrial.engine.slurm_job import STEP, without_step

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
    above = "import subprocess, sys; from ranktrial.engine.slurm_job import pass_on_warnings; pass_on_warnings()\n"
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
