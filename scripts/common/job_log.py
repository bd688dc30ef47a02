"""The log of a job: where it ran, and then all that its script and the programs which that starts print.

`tee` copies standard output and error to the log and goes on showing them, on the terminal or in Slurm's own log. It is
a process of its own: what was printed before a script is killed is in the log, and a library that prints much while
Python waits for it (Java does) never waits for a reader in the same process. What fails before the options are read,
such as an import, is shown and in no log.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from scripts.common.errors import UserError

HEAD = ("host", "slurm job", "driver")  # the first lines of a log, `name: value`, in this order
NONE = "none"  # the value of what there is not
DRIVER = Path("/proc/driver/nvidia/version")  # its first line names the GPU's driver
LONGEST_WAIT = 5.0  # seconds for the last lines to reach the log, where a process that the script started lives on


def head() -> str:
    """The first lines of a log."""
    try:
        driver = DRIVER.read_text().splitlines()[0]
    except (OSError, IndexError):
        driver = NONE
    values = (socket.gethostname(), os.environ.get("SLURM_JOB_ID") or NONE, driver)
    return "".join(f"{name}: {value}\n" for name, value in zip(HEAD, values, strict=True))


def begin_log(path: Path) -> None:
    """Copy what this process and those that it starts print to a new log, until the process ends.

    Raises UserError where the log cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    sys.stdout.flush()
    sys.stderr.flush()
    terminal = os.dup(1), os.dup(2)
    # In a session of its own it outlives Ctrl-C, and ends when the last process that prints has ended.
    tee = subprocess.Popen(
        ["tee", "-a", "--", path], stdin=subprocess.PIPE, stdout=terminal[0], stderr=terminal[1], start_new_session=True
    )
    assert tee.stdin is not None
    for descriptor in (1, 2):
        os.dup2(tee.stdin.fileno(), descriptor)
    tee.stdin.close()
    atexit.register(_end_log, tee, terminal)


def _end_log(tee: subprocess.Popen, terminal: tuple[int, int]) -> None:
    """Wait until all that was printed is in the log; whoever waits for the script reads it then."""
    for stream, descriptor, original in zip((sys.stdout, sys.stderr), (1, 2), terminal, strict=True):
        with suppress(OSError, ValueError):
            stream.flush()
        os.dup2(original, descriptor)
    with suppress(subprocess.TimeoutExpired):
        tee.wait(LONGEST_WAIT)
