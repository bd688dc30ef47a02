"""Daemons that tests start and end, with their output in a folder."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

ETC = Path("/etc/slurm")  # the only place where Slurm's job steps read the configuration


class Daemons:
    """Processes that are ended in the opposite order of their starts."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self.running: list[subprocess.Popen] = []

    def start(self, *command: str, user: str | None = None, name: str = "") -> subprocess.Popen:
        with open(self.logs / f"{name or command[0]}.out", "a") as log:
            group = {"user": user, "group": user, "extra_groups": []} if user else {}
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **group
            )
        self.running.append(process)
        return process

    def end(self, process: subprocess.Popen) -> None:
        """Ask a daemon to end; kill it after ten seconds."""
        self.running.remove(process)
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end_all(self) -> None:
        for process in reversed(self.running.copy()):
            self.end(process)


def wait(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until `condition()` is true; after `seconds` an AssertionError says that `what` did not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain for {what}"
        time.sleep(0.05)
