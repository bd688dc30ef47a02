"""Checks that the user's own data stays the same from planning a job until the job has written its outputs.

The key `sha256_of` of a job's settings contains, by path, the SHA-256 that each file or folder had when the run began.
The outputs of the job appear only if these are still the same at its end. So results of old data, or of a mixture, are
never taken for results of the new data.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.digests import content_sha256
from ranktrial.common.errors import UserError

EXPECTED: dict[Path, str] = {}


def hold(paths: dict[Path, str]) -> None:
    """Check each file or folder against its SHA-256, now and before any output appears. Raises UserError."""
    EXPECTED.clear()
    EXPECTED.update(paths)
    check()


def changed() -> str | None:
    """A message about the first input that changed since the job was planned; None if none did."""
    for path, expected in EXPECTED.items():
        try:
            if content_sha256(path) == expected:
                continue
        except OSError:
            pass
        return f"{path}: changed while the run was under way; run again"
    return None


def check() -> None:
    """Raise UserError if an input changed since the job was planned."""
    if change := changed():
        raise UserError(change)
