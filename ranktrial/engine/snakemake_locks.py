"""Snakemake's own locks, made to hold: a run removes only those that it wrote, and takes the experiment's lock first.

Snakemake 9.27 removes the folder of all locks when any run ends, and two runs that start together can write the same
lock file. Its locks are still needed: they keep two experiments from making a shared file, such as a download, at the
same time. Locks that a killed run left are removed by the next run of the same experiment.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from snakemake.exceptions import LockException
from snakemake.persistence.file import FilePersistence

from ranktrial.common.errors import UserError
from ranktrial.engine.run_lock import RunLock

_locks: list[RunLock] = []  # of the experiments of this process
_refused: list[str] = []  # why the last run could not start


def guard(state: Path, experiment: str) -> None:
    """Let each run of Snakemake in this process hold the lock of an experiment, and leave the locks of others."""
    lock = RunLock(state, experiment)
    lock.sweep()
    _locks.append(lock)
    FilePersistence.lock = _lock
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


@contextmanager
def _lock(persistence: Any) -> Iterator[None]:
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
