"""Keeps Snakemake's records of how each file was made inside results/, so that they move with the results.

Snakemake decides by its records (.snakemake/metadata: settings, inputs and their checksums) and by time stamps whether
a file is up to date. Here the records are in results/state, and .snakemake only links to them, since there is no option
for their folder. When a clone first meets results that were made elsewhere, their time stamps are reset to the recorded
ones: copying may have changed them, and Snakemake would make all results again.
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

from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import read_json

STATE = "state"
PARTS = ("metadata", "incomplete")
DIRECTORY_STAMP = ".snakemake_timestamp"  # this file is Snakemake's time stamp of a folder
LONGEST_NAME = 255  # bytes; Snakemake splits a longer name into folders that begin with @
# The keys of each record without which Snakemake would miss a change or end in a traceback.
FIELDS = {
    "rule": str, "code": str, "shellcmd": str, "params": list, "input": list, "log": list,
    "input_checksums": dict, "starttime": (int, float), "endtime": (int, float), "record_format_version": int,
}  # fmt: skip


def make_folder(path: Path) -> None:
    """Make a folder and its parents. Raises UserError if something else has its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        taken = next(place for place in [path, *path.parents] if os.path.lexists(place) and not place.is_dir())
        raise UserError(f"{taken}: not a folder, but one is needed there; remove it") from None


def link_state(results: Path, snakemake: Path) -> bool:
    """Make `snakemake`/metadata and /incomplete links into `results`/state, and move what a run left behind there.

    Returns whether the results came with records that are new to this clone.
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
        with suppress(FileExistsError):  # another Snakemake, starting at the same moment, was faster
            link.symlink_to(os.path.relpath(target.absolute(), snakemake.resolve()))
    return came_with_results


def record_path(folder: Path, name: str) -> Path:
    """The path of Snakemake's record of the file `name`."""
    encoded = base64.urlsafe_b64encode(os.fsencode(name)).decode()
    step = LONGEST_NAME - 1
    parts = [encoded[start : start + step] for start in range(0, len(encoded), step)]
    return folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])


def noted(folder: Path) -> Iterator[tuple[str, Path]]:
    """Each path with a record in `folder`, and the path of that record, in order; other files are skipped."""
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
    """Snakemake's record in a file; None if it is damaged or has another form."""
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
    """The path of each recorded file, with its record. Files that are not records are skipped."""
    for name, path in noted(metadata):
        if (record := read_record(path)) is not None:
            yield name, record


def restore_times(metadata: Path) -> int:
    """Reset the time of files newer than their record to the recorded end of their job. Returns their number."""
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
    """Link the records and adopt results that were made elsewhere, before the Snakefile plans.

    Raises UserError if the folders cannot be written.
    """
    try:
        if link_state(results, snakemake):
            restore_times(results / STATE / "metadata")
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written: {error.strerror}") from None
