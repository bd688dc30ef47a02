"""Ctrl-C where nothing takes it: one line, and the exit code says that a signal ended the command."""

import signal
import subprocess
import sys
from pathlib import Path

from ranktrial.common.processes import SAID

ROOT = Path(__file__).parents[2]


def ended_by(error):
    program = f"from ranktrial.common.processes import in_one_line\nin_one_line()\nraise {error}"
    return subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)


def test_an_interruption_is_one_line():
    done = ended_by("KeyboardInterrupt")
    assert done.returncode == -signal.SIGINT and done.stderr == f"\n{SAID}\n"


def test_another_error_keeps_its_traceback():
    done = ended_by("RuntimeError('x')")
    assert done.returncode == 1 and done.stderr.startswith("Traceback") and SAID not in done.stderr
