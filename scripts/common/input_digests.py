"""Checks that the user's own data stays the same from planning a job until the job has written its outputs.

A job's settings state under `sha256_of` the SHA-256 that each input had when the run began. The outputs of the job
appear only if the inputs are still the same at its end. So results of old data, or of a mixture, never pass for
results of the new data.
"""

from __future__ import annotations

from pathlib import Path

from scripts.common.digests import content_sha256
from scripts.common.errors import UserError

EXPECTED: dict[Path, str] = {}


def hold(paths: dict[Path, str]) -> None:
    """Check each file or folder against its SHA-256, now and before any output appears. Raises UserError."""
    EXPECTED.clear()
    EXPECTED.update(paths)
    check()


def changed() -> str | None:
    """A message about the first input that is no longer as it was when the job was planned; None if all are."""
    for path, expected in EXPECTED.items():
        try:
            if content_sha256(path) == expected:
                continue
        except OSError:
            pass
        return f"{path}: changed while the run was under way; run again"
    return None


def check() -> None:
    """Raise UserError if an input is no longer as it was when the job was planned."""
    if change := changed():
        raise UserError(change)
