"""The user's own data while a job reads it: the content that the job was planned with, before and after.

A job's settings say under `sha256_of` which content its input had when the run began. What the job writes appears only
if the data is still the same at the end, so that results of old data, or of half of each, never stand as those of new.
"""

from __future__ import annotations

from pathlib import Path

from scripts.common.digests import content_sha256
from scripts.common.errors import UserError

HELD: dict[Path, str] = {}


def hold(paths: dict[Path, str]) -> None:
    """Hold each file or folder to its SHA-256, from now until the job has written its outputs."""
    HELD.clear()
    HELD.update(paths)
    check()


def changed() -> str | None:
    """What is no longer as it was planned with, in words; None where everything is."""
    for path, expected in HELD.items():
        try:
            if content_sha256(path) == expected:
                continue
        except OSError:
            pass
        return f"{path}: changed while the run was under way; run again"
    return None


def check() -> None:
    """Raise UserError where something is no longer as it was planned with."""
    if said := changed():
        raise UserError(said)
