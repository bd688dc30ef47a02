"""Keeps Snakemake's records of what made each file inside results/, so that they go wherever the results go.

Snakemake decides by its records (.snakemake/metadata: settings, inputs and their checksums) and by time stamps whether
a file is up to date. Here the records lie in results/state and .snakemake only links to them, as there is no option for
their folder. Once, where a clone meets results that were made elsewhere, their time stamps are set back to the recorded
ones: copying may have lost them, and Snakemake would make all results again.
"""

from __future__ import annotations

import base64
import binascii
import math
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from scripts.common.errors import UserError
from scripts.common.strict_json import read_json

STATE = "state"
PARTS = ("metadata", "incomplete")
DIRECTORY_STAMP = ".snakemake_timestamp"  # by this file Snakemake dates a folder
LONGEST_NAME = 255  # bytes; Snakemake spreads a longer name over folders that begin with @
# What each record holds, and without which Snakemake would not notice a change or would end in a traceback.
FIELDS = {
    "rule": str, "code": str, "shellcmd": str, "params": list, "input": list, "log": list,
    "input_checksums": dict, "starttime": (int, float), "endtime": (int, float), "record_format_version": int,
}  # fmt: skip


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises UserError where something else has its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        taken = next(place for place in [path, *path.parents] if os.path.lexists(place) and not place.is_dir())
        raise UserError(f"{taken}: not a folder, but one is needed there; remove it") from None


def link_state(results: Path, snakemake: Path) -> bool:
    """Make `snakemake`/metadata and /incomplete links into `results`/state; move there what a run has left behind.

    Returns whether records came with the results, that is, whether they are new to this clone.
    """
    came_with_results = False
    make_folder(snakemake)
    for part in PARTS:
        link, target = snakemake / part, results / STATE / part
        make_folder(target)
        if link.is_symlink():
            if link.resolve() == target.resolve():
                continue
            link.unlink()
        came_with_results |= any(target.iterdir())
        if link.is_dir():
            shutil.copytree(link, target, dirs_exist_ok=True)
            shutil.rmtree(link)
        elif link.exists():
            raise UserError(f"{link}: not a folder, but one is needed there; remove it")
        with suppress(FileExistsError):  # another Snakemake that starts at this moment was faster
            link.symlink_to(os.path.relpath(target.absolute(), snakemake.resolve()))
    return came_with_results


def record_path(folder: Path, name: str) -> Path:
    """Where Snakemake keeps what it notes of the file `name`."""
    encoded = base64.urlsafe_b64encode(os.fsencode(name)).decode()
    step = LONGEST_NAME - 1
    parts = [encoded[start : start + step] for start in range(0, len(encoded), step)]
    return folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def noted(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each path of which something is noted in `folder` with where, in order; what has no such name is passed over."""
    for path in sorted(folder.rglob("*")):
        if not (path.name.startswith("@") and path.is_dir()):
            encoded = "".join(part.removeprefix("@") for part in path.relative_to(folder).parts)
            try:
                name = base64.b64decode(encoded, altchars=b"-_", validate=True).decode()
            except (binascii.Error, ValueError):
                continue
            if record_path(folder, name) == path:
                yield name, path


def read_record(path: Path) -> dict | None:
    """Snakemake's record in a file; None where it is damaged or of another shape."""
    try:
        record = read_json(path)
    except (UserError, OSError):
        return None
    if not isinstance(record, dict) or not all(isinstance(record.get(key), kind) for key, kind in FIELDS.items()):
        return None
    if not all(0 <= record[key] < math.inf for key in ("starttime", "endtime")):
        return None
    texts = [*record["params"], *record["input"], *record["log"], *record["input_checksums"].values()]
    return record if all(isinstance(text, str) for text in texts) else None


def records(metadata: Path) -> Iterator[tuple[str, dict]]:
    """Each recorded file's path with its record. Files that are not records are passed over."""
    for name, path in noted(metadata):
        if (record := read_record(path)) is not None:
            yield name, record


def restore_times(metadata: Path) -> int:
    """Give each file that is newer than its record the recorded time at which its job ended. Returns their number."""
    restored = 0
    for name, record in records(metadata):
        path, ended = Path(name), record["endtime"]
        dated = path / DIRECTORY_STAMP if path.is_dir() else path
        if dated.exists() and dated.stat().st_mtime > ended:
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
