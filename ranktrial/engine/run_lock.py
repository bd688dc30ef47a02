"""One run of an experiment at a time, wherever it was started: a lock in the folder of its results.

Snakemake's locks are in `.snakemake` of one clone, and the run that ends removes those of all. This lock is beside the
results, so it also holds for two clones that share them, and for two users. It consists of a lock of the file system
(flock), where that has one, and of a record of the holder, which a thread renews: a holder on another machine is dead
when its record has not been renewed for two minutes. A run that was suspended and taken for dead ends as soon as it
finds another's record: it must not go on beside it. Nor must the jobs of a dead run, which live on if Snakemake alone
was killed: they are ended on this machine, and anywhere else they write nothing (see common/digests.py).

Snakemake's own locks are made to hold: a run removes only those that it wrote, and takes the experiment's lock first.
Snakemake 9.27 removes the folder of all locks when any run ends, and two runs that start together can write the same
lock file. Its locks are still needed: they keep two experiments from making a shared file, such as a download, at the
same time. Locks that a killed run left are removed by the next run of the same experiment.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import os
import signal
import socket
import sys
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from snakemake.exceptions import LockException
from snakemake.persistence.file import FilePersistence

from ranktrial.common.digests import NOTE, RUN
from ranktrial.common.errors import UserError
from ranktrial.common.home import command
from ranktrial.common.job_code import is_code, noted
from ranktrial.common.ledger import write_whole
from ranktrial.common.processes import exists
from ranktrial.common.settings import read_settings
from ranktrial.common.strict_json import read_json

RENEWED = 10.0  # seconds between two renewals of the record
SILENT = 120.0  # seconds after which a holder on another machine is dead
_locks: list[RunLock] = []  # of the experiments of this process
_refused: list[str] = []  # why the last run could not start


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
            raise UserError(f"is running already ({who}); {command('status')} shows its progress") from None
        self.descriptor, self.taken_over, self.over = descriptor, before, threading.Event()
        for path in before.locks if before else ():
            Path(path).unlink(missing_ok=True)
        mine = Holder(socket.gethostname(), os.getpid(), _user(), _begun(os.getpid()), uuid.uuid4().hex)
        self.record.with_suffix(NOTE).unlink(missing_ok=True)
        self._write(mine)
        os.environ[RUN] = self._mark(mine)  # of the jobs of this run
        if before:
            self._end_jobs(before)
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
        os.environ.pop(RUN, None)

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

    def _mark(self, holder: Holder) -> str:
        return f"{self.record.absolute()} {holder.token}"

    def _end_jobs(self, of: Holder) -> None:
        """End the processes of this machine that a run started, but for those of Slurm's jobs, which are cancelled."""
        mark = os.fsencode(f"{RUN}={self._mark(of)}")
        own = os.fsencode(f"SLURM_JOB_ID={os.environ.get('SLURM_JOB_ID')}")
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):  # it has just ended, or is another user's
                words = environment.read_bytes().split(b"\0")
                of_slurm = any(word.startswith(b"SLURM_JOB_ID=") and word != own for word in words)
                if mark in words and not of_slurm:
                    os.kill(int(environment.parent.name), signal.SIGKILL)

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
        """End this process and its jobs at once, without touching a file, if another run took the experiment over."""
        if self.over.is_set() or self.still_mine() or not self.record.is_file():
            return
        who = holder.text() if (holder := self.holder()) else "another process"
        message = f"error: {self.file.stem}: {who} has taken this run for dead and goes on in its place; this one ends"
        print(message, file=sys.__stderr__, flush=True)
        if self.mine:
            self._end_jobs(self.mine)
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


def guard(state: Path, experiment: str) -> None:
    """Let each run of Snakemake in this process hold the lock of an experiment, and leave the locks of others."""
    lock = RunLock(state, experiment)
    lock.sweep()
    _locks.append(lock)
    FilePersistence.lock = _lock_files
    FilePersistence._read_locks = _read_locks
    FilePersistence._write_locks = _write_locks
    FilePersistence._delete_locks = _delete_own
    FilePersistence.cleanup_locks = _remove_all


def refusal() -> str | None:
    """Why the last run could not start, as far as the experiment's lock knows it."""
    return _refused[-1] if _refused else None


def run_lock() -> RunLock | None:
    """The lock of this process's run."""
    return _locks[-1] if _locks else None


def note_code(workflow: Any) -> None:
    """Note the code of the jobs that will run, for their checks. It is evaluated here, and not as each job starts."""
    codes = [job.params.get("code") for job in workflow.dag.needrun_jobs()]
    note = noted(code for code in codes if is_code(code))
    write_whole(_locks[-1].record.with_suffix(NOTE), json.dumps(note).encode())


@contextmanager
def _lock_files(persistence: Any) -> Iterator[None]:
    """Snakemake's `lock`, within the experiment's. Raises its LockException, which ends the run with one line."""
    _refused.clear()
    lock = _locks[-1]
    try:
        lock.acquire()
    except UserError as error:
        _refused.append(str(error))
        raise LockException from None
    if dead := lock.taken_over:
        print(f"taking over from {dead.text()}, which ended without a word", file=sys.stderr, flush=True)
    try:
        if persistence.locked:
            raise LockException
        try:
            persistence._write_locks("input", map(str, persistence.all_inputfiles()))
            persistence._write_locks("output", map(str, persistence.all_outputfiles()))
            lock.leaves([*persistence._lockfile.values()])
            yield
        finally:
            persistence.unlock()
    finally:
        lock.release()


def _read_locks(persistence: Any) -> Iterator[tuple[str, str]]:
    """The locked files, each with `input` or `output`; a lock that its run removes at this moment has none."""
    for lock_type in ("input", "output"):
        for path in Path(persistence._lockdir).glob(f"*.{lock_type}.lock"):
            with suppress(FileNotFoundError):
                yield from ((lock_type, line) for line in path.read_text().splitlines())


def _write_locks(persistence: Any, lock_type: str, keys: Iterable[str]) -> None:
    """As Snakemake's, but a file that another run makes at this moment is never written."""
    if not (lines := list(keys)):
        return
    for number in count():
        os.makedirs(persistence._lockdir, exist_ok=True)
        path = os.path.join(persistence._lockdir, f"{number}.{lock_type}.lock")
        try:
            with open(path, "x") as file:
                print(*lines, sep="\n", file=file)
        except (FileExistsError, FileNotFoundError):
            continue
        persistence._lockfile[lock_type] = path
        return


def _delete_own(persistence: Any) -> None:
    for path in persistence._lockfile.values():
        Path(path).unlink(missing_ok=True)
    persistence._lockfile.clear()


def _remove_all(persistence: Any) -> None:
    """All locks of this clone: what `snakemake --unlock` is for."""
    for path in Path(persistence._lockdir).glob("*.lock"):
        path.unlink(missing_ok=True)
