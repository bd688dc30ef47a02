"""The other processes of a training, started by the first: they end when it ends, and it ends when one of them fails.

Their output is stored separately; if one fails, its reason is reported as that of the training.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

LOOK = 0.2  # seconds between two checks of the other processes
GRACE = 10  # seconds for the first process to notice by itself that another has ended
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl.h


@dataclass
class _Other:
    start: Callable[[], subprocess.Popen]
    process: subprocess.Popen
    said: Path
    why: Callable[[str, int], tuple[str, bool]]  # (output, exit code) -> reason, and whether it can be the cause
    ends_by: signal.Signals
    after: Callable[[str], float | None] | None  # output of a failed start -> seconds until the next one, if any
    due: float = 0.0  # when the next one is


class Others:
    """Processes that share the training of this process; their output is stored in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[_Other] = []

    def start(
        self,
        command: list[str],
        environment: dict[str, str],
        why: Callable[[str, int], tuple[str, bool]],
        ends_by: signal.Signals = signal.SIGKILL,
        after: Callable[[str], float | None] | None = None,
    ) -> None:
        """Start a process; `ends_by` is the signal that ends it when this process ends.

        If it fails with an output for which `after` states a number of seconds, it is started again after them.
        """
        prctl = getattr(ctypes.CDLL(None), "prctl", None)

        def die_with_parent() -> None:  # on Linux; elsewhere, it would wait for a killed first process
            if prctl:
                prctl(DIES_WITH_PARENT, ends_by)

        path = self.folder / str(len(self.started) + 1)

        def begin() -> subprocess.Popen:
            with open(path, "wb") as said:
                streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
                return subprocess.Popen(command, env=environment, preexec_fn=die_with_parent, **streams)

        self.started.append(_Other(begin, begin(), path, why, ends_by, after))

    def end(self, patience: float) -> None:
        """Wait `patience` seconds for each process to end by itself, then terminate it; start none again."""
        for other in self.started:
            other.after = None
        for other in self.started:
            with suppress(subprocess.TimeoutExpired):
                other.process.wait(patience)
            if other.process.poll() is None and other.ends_by != signal.SIGKILL:
                other.process.send_signal(other.ends_by)
                with suppress(subprocess.TimeoutExpired):
                    other.process.wait(GRACE)
            other.process.kill()
            other.process.wait()

    def failure(self, patience: float = 0) -> str:
        """The reason why a process has failed, or fails within `patience` seconds; empty if none has.

        A process that ended with a traceback may only have lost contact with another: that one's reason is awaited for
        up to `patience` seconds.
        """
        end = time.monotonic() + patience
        while True:
            failed = [other for other in self.started if other.process.poll() and not other.after]
            reasons = [other.why(other.said.read_text(errors="replace"), other.process.returncode) for other in failed]
            causes = [reason for reason, cause in reasons if cause]
            if causes:
                return causes[0]
            if time.monotonic() >= end or not self.started:
                return reasons[0][0] if reasons else ""
            time.sleep(LOOK)

    def _start_again(self) -> None:
        """Start again what has failed and may succeed later, when it is due."""
        for other in self.started:
            if other.after and other.process.poll():
                if not other.due:
                    pause = other.after(other.said.read_text(errors="replace"))
                    if pause is None:
                        other.after = None
                    else:
                        other.due = time.monotonic() + pause
                elif time.monotonic() >= other.due:
                    other.process, other.due = other.start(), 0.0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within this context, processes are started again, and this one ends if it does not notice a failure."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK):
                self._start_again()
                if self.failure():
                    if not over.wait(GRACE):
                        print(f"error: {self.failure()}", file=sys.stderr, flush=True)
                        os._exit(1)
                    return

        thread = threading.Thread(target=look, daemon=True, name="processes")
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def why_ended(number: int, said: str, code: int) -> tuple[str, bool]:
    """The reason why a process on this machine failed, and whether it can be the cause of all failures."""
    lines = said.strip().splitlines()
    last = lines[-1] if lines else "no word from it"
    if code == 1:
        return last.removeprefix("error: "), last.startswith("error: ")
    return f"process {number} of the training has ended ({last})", True
