"""SHA-256 of files and of folders, and the check that the user's own data and the run stay the same during a job.

The key `sha256_of` of a job's settings contains, by path, the SHA-256 that each file or folder had when the run began.
The outputs of the job appear only if these are still the same at its end. So results of old data, or of a mixture, are
never taken for results of the new data. Nor do those of a job whose run was killed, once another run of the experiment
began: the variable RUN contains the path of the run's record (see engine/run_lock.py) and what only this run has in it.
Beside that record is a note of the jobs' code as it was then, NOTE.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.job_code import edited


def sha256(*paths: Path) -> str:
    """The SHA-256 of the bytes of files, one after another, as hexadecimal."""
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            hashlib.file_digest(file, lambda: total)
    return total.hexdigest()


def files_below(path: Path) -> dict[str, Path]:
    """The files of a folder by their path inside it, sorted by that path; a single file is listed under the name "".

    Links are followed, because readers of the files follow them too. A folder that contains itself through a link is
    entered once.
    """
    if not path.is_dir():
        return {"": path} if path.is_file() else {}
    files: dict[str, Path] = {}
    entered = set()
    for place, folders, names in os.walk(path, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in entered:
            folders.clear()
            continue
        entered.add((status.st_dev, status.st_ino))
        for file in (Path(place, name) for name in names):
            if file.is_file():
                files[file.relative_to(path).as_posix()] = file
    return dict(sorted(files.items()))


def content_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes; for a folder, the SHA-256 of the lines `SHA-256  path inside` of its files.

    Raises OSError if the path is neither a file nor a folder (a pipe has no content of its own).
    """
    if not path.is_dir():
        if not path.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return sha256(path)
    return named_sha256(files_below(path))


def named_sha256(files: Mapping[str, Path]) -> str:
    """The SHA-256 of the lines `SHA-256  name` of files."""
    lines = "".join(f"{sha256(file)}  {name}\n" for name, file in files.items())
    return hashlib.sha256(lines.encode(errors="surrogateescape")).hexdigest()


EXPECTED: dict[Path, str] = {}
RUN = "RANKTRIAL_RUN"  # not set where no run started the job
NOTE = ".code"
LOOKS, SECONDS = 15, 5  # how often a job of a cluster looks for its run, and the pauses between
AGAIN = "changed while the run was under way; run again"


def hold(paths: dict[Path, str]) -> None:
    """Check each file or folder against its SHA-256, now and before any output appears. Raises UserError."""
    EXPECTED.clear()
    EXPECTED.update(paths)
    check()


def changed() -> str | None:
    """A message about the run, code or input that changed since the job was planned; None if none did."""
    record, _, token = os.environ.get(RUN, "").rpartition(" ")
    if record and _is_over(Path(record), token):
        return "the run that started this job has ended, and another may be under way; nothing is written"
    if record and (file := edited(Path(record).with_suffix(NOTE))):
        return f"{file}: {AGAIN}"
    for path, expected in EXPECTED.items():
        try:
            if content_sha256(path) == expected:
                continue
        except OSError:
            pass
        return f"{path}: {AGAIN}"
    return None


def _is_over(record: Path, token: str) -> bool:
    """Whether the record of a run is gone, or is another run's. A node of a cluster looks for a while: network file
    systems may show it a folder as it was a minute ago.
    """
    for attempt in range(LOOKS if "SLURM_JOB_ID" in os.environ else 1):
        if attempt:
            time.sleep(SECONDS)
        with suppress(OSError):
            if token in record.read_text():
                return False
    return True


def check() -> None:
    """Raise UserError if the run, the code or an input changed since the job was planned."""
    if change := changed():
        raise UserError(change)
