"""The other processes of a training, as the first has started them: they end when it does, and it ends when one fails.

What they print is kept apart; of one that fails, the reason becomes the training's own.
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

LOOK = 0.2  # seconds between two looks at the others
GRACE = 10  # seconds in which the first process may find for itself that another has ended
DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl.h


@dataclass(frozen=True)
class _Other:
    process: subprocess.Popen
    said: Path
    why: Callable[[str, int], tuple[str, bool]]  # of what it said and its exit code; and whether that can be the cause
    ends_by: signal.Signals


class Others:
    """Processes that share the training of this one; what they print lies in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[_Other] = []

    def start(
        self,
        command: list[str],
        environment: dict[str, str],
        why: Callable[[str, int], tuple[str, bool]],
        ends_by: signal.Signals = signal.SIGKILL,
    ) -> None:
        """Start a process; `ends_by` is the signal that ends it when this one ends."""
        prctl = getattr(ctypes.CDLL(None), "prctl", None)

        def die_with_parent() -> None:  # where Linux can; else one waits for a first process that was killed
            if prctl:
                prctl(DIES_WITH_PARENT, ends_by)

        path = self.folder / str(len(self.started) + 1)
        with open(path, "wb") as said:
            streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
            process = subprocess.Popen(command, env=environment, preexec_fn=die_with_parent, **streams)
        self.started.append(_Other(process, path, why, ends_by))

    def end(self, patience: float) -> None:
        """Wait so many seconds for all to end by themselves, then end them."""
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
        """Why a process has failed by now, or does so soon; empty where none has.

        One that ended in a traceback may have lost sight of another: within the patience that one's reason is awaited.
        """
        end = time.monotonic() + patience
        while True:
            failed = [other for other in self.started if other.process.poll()]
            reasons = [other.why(other.said.read_text(errors="replace"), other.process.returncode) for other in failed]
            causes = [reason for reason, cause in reasons if cause]
            if causes:
                return causes[0]
            if time.monotonic() >= end or not self.started:
                return reasons[0][0] if reasons else ""
            time.sleep(LOOK)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Within the block this process is ended when it does not notice that another has failed."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(LOOK):
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
    """Why a process of this machine has failed, and whether that can be the cause of all that failed."""
    lines = said.strip().splitlines()
    last = lines[-1] if lines else "no word from it"
    if code == 1:
        return last.removeprefix("error: "), last.startswith("error: ")
    return f"process {number} of the training has ended ({last})", True
