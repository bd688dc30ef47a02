"""What the user's own files and folders hold, as one SHA-256 each: a part of the settings of the jobs that read them.

So a change is planned for whatever the dates say, also one made while a run was under way. Reads the data once: its
SHA-256 is kept in results/state/own-data/ as long as no file has another size, date or place on the disk. Where a
cluster's job plans itself again it takes what the run began with, which stands there as well.
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

from scripts.common.digests import content_sha256, files_below
from scripts.common.replacing import write_whole

SETTLED = 2 * 10**9  # nanoseconds: what changed more recently may change again within one tick of the file's clock
LARGE = 10**9  # bytes, from which on reading takes a while and is reported


class OwnData:
    """The SHA-256 of files and folders. `folder` keeps them; `job` says that this is a job of the run of this name."""

    def __init__(self, folder: Path, run: str, job: bool = False) -> None:
        self.known_file, self.run_file = folder / "known.json", folder / f"{run}.run.json"
        self.known = _read(self.known_file)
        begun = _read(self.run_file) if job else {}
        self.digests = {path: sha256 for path, sha256 in begun.items() if isinstance(sha256, str)}

    def sha256(self, path: str) -> str | None:
        """The SHA-256 of the content at `path`; None where it cannot be read, which the job will tell."""
        if path not in self.digests:
            try:
                self.digests[path] = self._now(path)
            except OSError:
                return None
        return self.digests[path]

    def begin_run(self, paths: Iterable[str]) -> None:
        """Keep what the run begins with for its jobs, wherever they are run."""
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
            with suppress(OSError):  # it will be read again
                _write(self.known_file, self.known)
        return sha256


def _signature(states: dict[str, os.stat_result]) -> str:
    """It differs once a file was written to, because the date of a file's last change (ctime) cannot be set back."""
    lines = [f"{s.st_size} {s.st_mtime_ns} {s.st_ctime_ns} {s.st_ino} {name}\n" for name, s in states.items()]
    return hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()


def _read(path: Path) -> dict:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return {}  # it is only a shortcut
    return content if isinstance(content, dict) else {}


def _write(path: Path, content: dict) -> None:
    write_whole(path, json.dumps(content, indent=1, sort_keys=True).encode())
