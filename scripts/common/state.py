"""Keeps Snakemake's records of what made each file inside results/, so that they go wherever the results go.

Snakemake decides by its records (.snakemake/metadata: settings, inputs and their checksums) and by time stamps whether
a file is up to date. Here the records lie in results/state and .snakemake only links to them. Where a clone meets
results that were made elsewhere, their time stamps are set back to the recorded ones: copying may have lost them.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scripts.common.errors import UserError

STATE = "state"
PARTS = ("metadata", "incomplete")
DIRECTORY_STAMP = ".snakemake_timestamp"  # by this file Snakemake dates a folder


def link_state(results: Path, snakemake: Path) -> bool:
    """Make `snakemake`/metadata and /incomplete links into `results`/state; move there what a run has left behind.

    Returns whether records came with the results, that is, whether they are new to this clone.
    """
    came_with_results = False
    snakemake.mkdir(exist_ok=True)
    for part in PARTS:
        link, target = snakemake / part, results / STATE / part
        if link.is_symlink():
            if link.resolve() == target.resolve():
                target.mkdir(parents=True, exist_ok=True)
                continue
            link.unlink()
        came_with_results |= target.is_dir() and any(target.iterdir())
        target.mkdir(parents=True, exist_ok=True)
        if link.is_dir():
            shutil.copytree(link, target, dirs_exist_ok=True)
            shutil.rmtree(link)
        with suppress(FileExistsError):  # another Snakemake that starts at this moment was faster
            link.symlink_to(os.path.relpath(target, snakemake))
    return came_with_results


def records(metadata: Path) -> Iterator[tuple[str, dict]]:
    """Each recorded file's path with its record. Files that are not records are passed over."""
    for path in sorted(metadata.rglob("*")):
        if path.is_file():
            encoded = "".join(part.removeprefix("@") for part in path.relative_to(metadata).parts)
            try:
                yield base64.urlsafe_b64decode(encoded).decode(), json.loads(path.read_text())
            except (binascii.Error, UnicodeDecodeError, json.JSONDecodeError):
                continue


def restore_times(metadata: Path) -> int:
    """Give each file that is newer than its record the recorded time at which its job ended. Returns their number."""
    restored = 0
    for name, record in records(metadata):
        path, ended = Path(name), record.get("endtime")
        dated = path / DIRECTORY_STAMP if path.is_dir() else path
        if ended and dated.exists() and dated.stat().st_mtime > ended:
            os.utime(dated, (ended, ended))
            if dated is not path:
                os.utime(path, (ended, ended))
            restored += 1
    return restored


def adopt(results: Path, snakemake: Path) -> None:
    """What the Snakefile does before it plans: link the records, and take over results that were made elsewhere.

    Raises UserError where the folders cannot be written.
    """
    try:
        if link_state(results, snakemake):
            restore_times(results / STATE / "metadata")
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written: {error.strerror}") from None
