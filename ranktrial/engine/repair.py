"""Before Snakemake plans: outputs without an intact record are marked to be made again.

For a file without a record, Snakemake compares only dates, so that a changed setting would not remake it; a damaged
record ends in a traceback. Here a damaged record is removed, and a file without a record is marked as unfinished, so
that Snakemake makes it again. Files locked by another Snakemake are left to it. Files dated in the future, after the
clock was set back, are dated now: Snakemake refuses outputs that are older than their inputs.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from ranktrial.common.errors import UserError
from ranktrial.common.strict_json import read_json
from ranktrial.engine.job_records import DIRECTORY_STAMP, PARTS, STATE, make_folder, noted, read_record, record_path

SHARED = "downloads"  # beside the experiments' folders: what all of them have fetched
# In an experiment's folder; the last two are of `make resume` and of the configuration of the last run.
NO_OUTPUTS = {"logs", "benchmarks", "left-out.json", "config.yaml"}
FOLDERS = ("locks", "auxiliary", "conda", "conda-archive", "singularity", "shadow", "iocache", "log")
CLOCKS_APART = 60.0  # seconds: how much the clocks of two machines may differ
NAMED = 3  # files, in a warning
LITTLE = 1 << 20  # bytes of free space without which Snakemake ends in a traceback


def outputs(folder: Path) -> Iterator[str]:
    """The paths of files, and of folders that are one output, below an experiment's folder."""
    for root, folders, files in os.walk(folder):
        below = set(folders)
        if Path(root) == folder:
            below -= NO_OUTPUTS
            files = [name for name in files if name not in NO_OUTPUTS]
        whole = {name for name in below if os.path.lexists(os.path.join(root, name, DIRECTORY_STAMP))}
        folders[:] = sorted(name for name in below - whole if not name.startswith(".") and not name.endswith(".resume"))
        yield from (os.path.join(root, name) for name in sorted([*files, *whole]) if not name.startswith("."))


def held_files(snakemake: Path) -> set[str]:
    """The files that a Snakemake is making, or was making when it was killed. Raises UserError if a lock is damaged."""
    for name in FOLDERS:
        if os.path.lexists(snakemake / name):
            make_folder(snakemake / name)
    held: set[str] = set()
    for path in sorted((snakemake / "locks").glob("*.lock")):
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            continue  # the other Snakemake has just ended
        except (OSError, UnicodeDecodeError):
            raise UserError(f"{path}: damaged; where no other Snakemake runs here, remove {path.parent}") from None
        held |= set(lines) if path.name.endswith(".output.lock") else set()
    return held


def remove(path: Path) -> None:
    """Remove whatever has this name."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def mark(path: Path) -> None:
    """Mark a file as unfinished, as Snakemake does."""
    remove(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"external_jobid": None}), encoding="utf-8")


def is_mark(path: Path) -> bool:
    """Whether Snakemake can read this mark of an unfinished file."""
    try:
        return not path.is_symlink() and isinstance(read_json(path), dict)
    except (UserError, OSError):
        return False


def mark_unrecorded(state: Path, names: list[str], folders: tuple[str, ...], held: set[str]) -> list[str]:
    """Mark the files of `names` that have no intact record, and remove damaged records; returns what was marked."""
    metadata, incomplete = (state / part for part in PARTS)
    ours = [(name, path) for name, path in noted(metadata) if name.startswith(folders) and name not in held]
    for _, path in ours:
        if read_record(path) is None:
            remove(path)
    recorded = {name for name, path in ours if os.path.lexists(path)}
    for name, path in list(noted(incomplete)):
        if name.startswith(folders) and name not in held and not is_mark(path):
            mark(path)
    marked = {name for name, _ in noted(incomplete)}
    new = [name for name in names if name not in recorded | marked | held]
    for name in new:
        mark(record_path(incomplete, name))
    return new


def date_now(names: list[str], held: set[str]) -> int:
    """Set the date of files dated in the future to now, keeping their order. Returns their number."""
    now = time.time_ns()
    dates: dict[str, int] = {}
    for name in names:
        for path in (name, os.path.join(name, DIRECTORY_STAMP)):
            if name not in held and os.path.exists(path):
                dates[path] = os.stat(path).st_mtime_ns
    ahead = {path: date for path, date in dates.items() if date > now + CLOCKS_APART * 1e9}
    places = {date: place for place, date in enumerate(sorted(set(ahead.values())))}
    for path, date in ahead.items():
        dated = now + places[date] * 1000
        os.utime(path, ns=(dated, dated))
    return len({path.removesuffix(f"/{DIRECTORY_STAMP}") for path in ahead})


def check_space(*folders: Path) -> None:
    """Raise UserError if the disk of a folder is full."""
    for folder in folders:
        if folder.is_dir() and (free := shutil.disk_usage(folder).free) < LITTLE:
            raise UserError(f"{folder}: {os.strerror(errno.ENOSPC)} ({free >> 10} KiB are free)")


def repair(results: Path, experiment: str, snakemake: Path) -> list[str]:
    """Repair what would make Snakemake fail; returns one line for each kind of repair.

    Raises UserError if the records cannot be written, a lock is damaged or a disk is full.
    """
    folders = tuple(f"{results / name}/" for name in (experiment, SHARED))
    messages = []
    check_space(results, Path(os.environ.get("TMPDIR") or "/tmp"))
    try:
        held = held_files(snakemake)
        names = [name for folder in folders for name in outputs(Path(folder))]
        if new := mark_unrecorded(results / STATE, names, folders, held):
            listed = ", ".join(new[:NAMED]) + (", …" if len(new) > NAMED else "")
            many = f"{len(new)} files are" if len(new) > 1 else "1 file is"
            messages.append(
                f"{many} made again, no complete record in {results / STATE} says how they were made: {listed}"
            )
        if ahead := date_now(names, held):
            messages.append(
                f"{ahead} files below {results} were dated ahead of this machine's clock; they are dated now"
            )
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return messages
