"""Processes of this machine: their threads, their end by Ctrl-C, and Slurm's commands.

Ctrl-C ends a command with one line instead of a traceback. Imports nothing slow, so that it takes effect early.

Of Slurm's commands: their output, why they failed, and whether and when to try again.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType

from ranktrial.common.errors import UserError
from ranktrial.common.wording import integer


def exists(pid: int) -> bool:
    """Whether there is a process of this number, also another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


SAID = "interrupted; what was finished is kept, run the same command to continue"


def in_one_line() -> None:
    """Report an unhandled interruption in one line from now on; the exit code remains that of the signal."""
    sys.excepthook = _hook


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(f"\n{SAID}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


PASSING = re.compile(  # refusals by limits on the number of jobs, and by a controller that is away or busy
    r"MaxSubmit|GrpSubmit|submit limit|too many jobs|timed out|timeout|Unable to contact|temporarily|standby mode"
    r"|Connection refused|Connection reset|Zero Bytes|Transport endpoint|Network is unreachable|No route to host"
    r"|busy|communication (?:connection )?failure|Unspecified error|not responding",
    re.IGNORECASE,
)
LIMIT_OF_SIZE = re.compile(r"^(?:QOS|Assoc)(?!.*Submit)\w+\s*$", re.MULTILINE)  # of one job: it does not pass
NAMED = re.compile(r"^\s*(?:(?:sbatch|srun|error): )*", re.MULTILINE)


def passes(errors: str) -> bool:
    """Whether a command that failed with these errors may succeed later."""
    own = NAMED.sub("", errors)
    return bool(PASSING.search(own)) and not LIMIT_OF_SIZE.search(own)


def pauses(first: float, longest: float, in_all: float = math.inf) -> Iterator[float]:
    """Seconds between two tries, doubled each time up to `longest`; they end so many seconds after the first try."""
    end = time.monotonic() + in_all
    while (left := end - time.monotonic()) > 0:
        yield min(first, left)
        first = min(2 * first, longest)


@dataclass
class Patience:
    """The pauses for which commands wait while the controller is away; `say` gets the reason of the first."""

    pauses: Iterator[float]
    say: Callable[[str], None]
    said: bool = False

    def after(self, errors: str) -> float | None:
        """Seconds until a command that failed with these errors is tried again; None if it has failed."""
        pause = next(self.pauses, None) if passes(errors) else None
        if pause is not None and not self.said:
            self.said = True
            self.say(errors)
        return pause


def ask(*command: str, patience: Patience | None = None) -> str:
    """The output of a Slurm command. Raises UserError with its last line if it fails, after the tries of `patience`."""
    while True:
        try:
            # In a session of its own, which a second Ctrl-C does not reach while jobs are cancelled after the first.
            done = subprocess.run(
                command, capture_output=True, text=True, stdin=subprocess.DEVNULL, start_new_session=True
            )
        except FileNotFoundError:
            needed = "--profile slurm, and nodes of a recipe, need Slurm's"
            raise UserError(f"{command[0]}: no such command on this machine; {needed}") from None
        if not done.returncode:
            return done.stdout
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        reason = f"{command[0]}: {lines[-1].removeprefix(f'{command[0]}: ')}"
        if patience is None or (pause := patience.after(reason)) is None:
            raise UserError(reason)
        time.sleep(pause)


def threads() -> int:
    """The number of threads that this job may use: OMP_NUM_THREADS, which Snakemake sets, or all cores."""
    given = integer(os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip())  # OpenMP allows 4,2
    return given if given and given > 0 else os.cpu_count() or 1
