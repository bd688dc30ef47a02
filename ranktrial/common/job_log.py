"""The log of a job: where it ran, followed by all output of its script and of the programs that the script starts.

`tee` copies standard output and error to the log and still shows them, on the terminal or in Slurm's own log. It is a
separate process: output printed before a script is killed is in the log, and a library that prints much while Python
waits for it (as Java does) never waits for a reader in the same process. A failure before the options are read, such as
that of an import, is shown but not logged.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from ranktrial.common.errors import UserError

HEAD = ("host", "slurm job", "driver")  # the first lines of a log, `name: value`, in this order
NONE = "none"  # the value if there is none
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
    """Copy the output of this process and of those that it starts to a new log, until the process ends.

    Raises UserError if the log cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None
    sys.stdout.flush()
    sys.stderr.flush()
    terminal = os.dup(1), os.dup(2)
    # In a session of its own, it survives Ctrl-C and ends when the last printing process has ended.
    tee = subprocess.Popen(
        ["tee", "-a", "--", path], stdin=subprocess.PIPE, stdout=terminal[0], stderr=terminal[1], start_new_session=True
    )
    assert tee.stdin is not None
    for descriptor in (1, 2):
        os.dup2(tee.stdin.fileno(), descriptor)
    tee.stdin.close()
    atexit.register(_end_log, tee, terminal)


def _end_log(tee: subprocess.Popen, terminal: tuple[int, int]) -> None:
    """Wait until all output is in the log, which is read once the script has ended."""
    for stream, descriptor, original in zip((sys.stdout, sys.stderr), (1, 2), terminal, strict=True):
        with suppress(OSError, ValueError):
            stream.flush()
        os.dup2(original, descriptor)
    with suppress(subprocess.TimeoutExpired):
        tee.wait(LONGEST_WAIT)
