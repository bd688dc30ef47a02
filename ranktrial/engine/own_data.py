"""The content of the user's own files and folders, as one SHA-256 each: part of the settings of jobs that read them.

So a change makes jobs run again whatever the dates, also if it was made during a run. Reads the data once: its SHA-256
is kept in results/state/own-data/ as long as size, date and inode of each file stay the same. When a cluster's job
plans again, it takes the values with which the run began, which are stored there as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from ranktrial.common.digests import content_sha256, files_below
from ranktrial.common.replacing import write_whole

SETTLED = 2 * 10**9  # nanoseconds: a file changed more recently may change again unnoticed
LARGE = 10**9  # bytes above which reading takes long enough to be reported


class OwnData:
    """The SHA-256 of files and folders. `folder` stores them; `job` is the run's name if this is one of its jobs."""

    def __init__(self, folder: Path, run: str, job: bool = False) -> None:
        self.known_file, self.run_file = folder / "known.json", folder / f"{run}.run.json"
        self.known = _read(self.known_file)
        begun = _read(self.run_file) if job else {}
        self.digests = {path: sha256 for path, sha256 in begun.items() if isinstance(sha256, str)}

    def sha256(self, path: str) -> str | None:
        """The SHA-256 of the content at `path`; None if it cannot be read, which the job will report."""
        if path not in self.digests:
            try:
                self.digests[path] = self._now(path)
            except OSError:
                return None
        return self.digests[path]

    def begin_run(self, paths: Iterable[str]) -> None:
        """Store the values with which the run begins, for its jobs on any node."""
        for path in paths:
            self.sha256(path)
        try:
            _write(self.run_file, self.digests)
        except OSError as error:
            sys.exit(f"error: {self.run_file}: cannot be written: {error.strerror}")

    def _now(self, path: str) -> str:
        files = files_below(Path(path))
        states = {name: os.stat(file) for name, file in files.items()}
        signature = _signature(states)
        known = self.known.get(path)
        if isinstance(known, dict) and known.get("seen") == signature and isinstance(known.get("sha256"), str):
            return known["sha256"]
        size = sum(state.st_size for state in states.values())
        if size > LARGE:
            print(f"{path}: {size / 1e9:.1f} GB are read once for their SHA-256", file=sys.stderr, flush=True)
        started = time.time_ns()
        sha256 = content_sha256(Path(path))
        if all(state.st_ctime_ns < started - SETTLED for state in states.values()):
            self.known[path] = {"seen": signature, "sha256": sha256}
            with suppress(OSError):  # then it is read again
                _write(self.known_file, self.known)
        return sha256


def _signature(states: dict[str, os.stat_result]) -> str:
    """A signature that changes when a file is written to, since its ctime cannot be set back."""
    lines = [f"{s.st_size} {s.st_mtime_ns} {s.st_ctime_ns} {s.st_ino} {name}\n" for name, s in states.items()]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _read(path: Path) -> dict:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}  # only a shortcut is lost
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict) -> None:
    write_whole(path, json.dumps(content, indent=1, sort_keys=True).encode())
