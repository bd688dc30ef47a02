"""One run of an experiment at a time, wherever it was started: a lock in the folder of its results.

Snakemake's locks are in `.snakemake` of one clone, and the run that ends removes those of all. This lock is beside the
results, so it also holds for two clones that share them, and for two users. It consists of a lock of the file system
(flock), where that has one, and of a record of the holder, which a thread renews: a holder on another machine is dead
when its record has not been renewed for two minutes. A run that was suspended and taken for dead ends as soon as it
finds another's record: it must not go on beside it.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import socket
import sys
import threading
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.processes import exists
from ranktrial.common.replacing import write_whole
from ranktrial.common.settings import read_settings
from ranktrial.common.strict_json import read_json

RENEWED = 10.0  # seconds between two renewals of the record
SILENT = 120.0  # seconds after which a holder on another machine is dead


@dataclass(frozen=True)
class Holder:
    """The process that runs the experiment; `locks` are Snakemake's lock files of it, left if it is killed."""

    host: str
    pid: int
    user: str
    begun: str
    token: str
    locks: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """The holder in a message."""
        return f"process {self.pid} of {self.user} on {self.host}"


class RunLock:
    """The lock of an experiment whose results are in a folder; `taken_over` is the dead holder before, if any."""

    def __init__(self, state: Path, experiment: str) -> None:
        self.file, self.record = state / f"{experiment}.lock", state / f"{experiment}.holder"
        self.descriptor: int | None = None
        self.mine: Holder | None = None
        self.taken_over: Holder | None = None
        self.over = threading.Event()

    def acquire(self) -> None:
        """Take the lock. Raises UserError with the holder if a living one has it."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(descriptor)
            before = self.holder()
            if before and self._lives(before):
                raise BlockingIOError
        except BlockingIOError:
            os.close(descriptor)
            who = holder.text() if (holder := self.holder()) else "another process"
            raise UserError(f"is running already ({who}); make status shows its progress") from None
        self.descriptor, self.taken_over, self.over = descriptor, before, threading.Event()
        for path in before.locks if before else ():
            Path(path).unlink(missing_ok=True)
        self._write(Holder(socket.gethostname(), os.getpid(), _user(), _begun(os.getpid()), uuid.uuid4().hex))
        threading.Thread(target=self._renew, args=(self.over,), daemon=True).start()

    def sweep(self) -> None:
        """Remove the lock files of Snakemake that a killed run left."""
        with suppress(UserError, OSError):
            descriptor = os.open(self.file, os.O_RDWR)
            try:
                _lock(descriptor)
                if (before := self.holder()) and not self._lives(before):
                    for path in before.locks:
                        Path(path).unlink(missing_ok=True)
            finally:
                os.close(descriptor)

    def leaves(self, locks: list[str]) -> None:
        """Record the lock files of Snakemake that this run would leave."""
        assert self.mine
        self._write(Holder(**{**asdict(self.mine), "locks": tuple(map(os.path.abspath, locks))}))

    def release(self) -> None:
        """Give the lock back."""
        self.over.set()
        if self.still_mine():
            self.record.unlink(missing_ok=True)
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor = self.mine = None

    def still_mine(self) -> bool:
        """Whether no other run has taken this one for dead."""
        return self.mine is not None and (holder := self.holder()) is not None and holder.token == self.mine.token

    def holder(self) -> Holder | None:
        """The holder of the record; None without one, or if it is damaged."""
        if not self.record.is_file():
            return None
        try:
            return read_settings(Holder, read_json(self.record), str(self.record))
        except (UserError, OSError):
            return None

    def _write(self, holder: Holder) -> None:
        self.mine = holder
        write_whole(self.record, json.dumps(asdict(holder)).encode())

    def _lives(self, holder: Holder) -> bool:
        """Whether a holder is running: on this machine by its process, on another one by its renewals."""
        if holder.host == socket.gethostname():
            return _begun(holder.pid) == holder.begun
        probe = self.record.with_suffix(f".{os.getpid()}.probe")  # the clock of the file system, not of this machine
        probe.touch()
        try:
            return probe.stat().st_mtime - self.record.stat().st_mtime < SILENT
        finally:
            probe.unlink(missing_ok=True)

    def _renew(self, over: threading.Event) -> None:
        while not over.wait(RENEWED):
            self.end_if_lost()
            with suppress(OSError):  # a disk that is full or away is reported by the next job
                if self.mine and not self.record.exists():
                    self._write(self.mine)
                os.utime(self.record)

    def end_if_lost(self) -> None:
        """End this process at once, without touching any file, if another run took the experiment over."""
        if self.over.is_set() or self.still_mine() or not self.record.is_file():
            return
        who = holder.text() if (holder := self.holder()) else "another process"
        message = f"error: {self.file.stem}: {who} has taken this run for dead and goes on in its place; this one ends"
        print(message, file=sys.__stderr__, flush=True)
        os._exit(1)


def _lock(descriptor: int) -> None:
    """Lock an open file. Raises BlockingIOError if another process has it; without such locks, the record decides."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return


def _user() -> str:
    with suppress(KeyError, OSError):
        return getpass.getuser()
    return str(os.getuid())


def _begun(pid: int) -> str:
    """When a process of this machine began, in ticks since its start; empty if there is none, or it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "" if Path("/proc").is_dir() or not exists(pid) else f"{pid}"
    return "" if fields[0] in "ZX" else fields[19]
