"""Snakemake's records of how each file was made: kept inside results/, repaired before planning, compared at the end.

Snakemake decides by its records (.snakemake/metadata: settings, inputs and their checksums) and by time stamps whether
a file is up to date. Here the records are in results/state, so that they move with the results, and .snakemake only
links to them, since there is no option for their folder. When a clone first meets results that were made elsewhere,
their time stamps are reset to the recorded ones: copying may have changed them, and Snakemake would make all again.
A file beside the records has the number of their folder in its file system: that of a copy is another one.

For a file without a record, Snakemake compares only dates, so that a changed setting would not remake it; a damaged
record ends in a traceback. Before planning, a damaged record is removed, and a file without a record is marked as
unfinished, so that Snakemake makes it again. Files locked by another Snakemake are left to it. Files dated in the
future, after the clock was set back, are dated now: Snakemake refuses outputs that are older than their inputs.

With `--rerun-triggers mtime` (or any choice without `params` or `input`), Snakemake compares only dates: numbers of an
earlier configuration stay, without a warning. Its records show this, so they are checked here when a run or a dry run
ends. A run with nothing to do calls no hook, so this runs at the end of the process. `--touch`, which would replace
such records by false ones, is refused.

`dag`, `persistence` and `rerun_triggers` are not documented for this use: tests/engine/test_snakemake_inside.py fails
if a new version changes them.
"""

from __future__ import annotations

import atexit
import base64
import binascii
import errno
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ranktrial.common.errors import UserError
from ranktrial.common.ledger import write_whole
from ranktrial.common.strict_json import read_json

STATE = "state"
PARTS = ("metadata", "incomplete")
PLACE = "place"
DIRECTORY_STAMP = ".snakemake_timestamp"  # this file is Snakemake's time stamp of a folder
LONGEST_NAME = 255  # bytes; Snakemake splits a longer name into folders that begin with @
# The keys of each record without which Snakemake would miss a change or end in a traceback.
FIELDS = {
    "rule": str, "code": str, "shellcmd": str, "params": list, "input": list, "log": list,
    "input_checksums": dict, "starttime": (int, float), "endtime": (int, float), "record_format_version": int,
}  # fmt: skip
SHARED = "downloads"  # beside the experiments' folders: what all of them have fetched
# In an experiment's folder; the last two are of `make resume` and of the configuration of the last run.
NO_OUTPUTS = {"logs", "benchmarks", "left-out.json", "config.yaml"}
FOLDERS = ("locks", "auxiliary", "conda", "conda-archive", "singularity", "shadow", "iocache", "log")
CLOCKS_APART = 60.0  # seconds: how much the clocks of two machines may differ
NAMED = 3  # files, in a warning
LITTLE = 1 << 20  # bytes of free space without which Snakemake ends in a traceback
USED = ("params", "input")  # the triggers that depend on how a file was made


def make_folder(path: Path) -> None:
    """Make a folder and its parents. Raises UserError if something else has its name."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        taken = next(place for place in [path, *path.parents] if os.path.lexists(place) and not place.is_dir())
        raise UserError(f"{taken}: not a folder, but one is needed there; remove it") from None


def link_state(results: Path, snakemake: Path) -> None:
    """Make `snakemake`/metadata and /incomplete links into `results`/state, and move what a run left behind there."""
    make_folder(snakemake)
    for part in PARTS:
        link, target = snakemake / part, results / STATE / part
        make_folder(target)
        if link.is_symlink():
            if link.resolve() == target.resolve():
                continue
            link.unlink()
        if link.is_dir():
            shutil.copytree(link, target, dirs_exist_ok=True)
            shutil.rmtree(link)
        elif link.exists():
            raise UserError(f"{link}: not a folder, but one is needed there; remove it")
        with suppress(FileExistsError):  # another Snakemake, starting at the same moment, was faster
            link.symlink_to(os.path.relpath(target.absolute(), snakemake.resolve()))


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
    place, metadata = results / STATE / PLACE, results / STATE / "metadata"
    try:
        link_state(results, snakemake)
        number = str(metadata.stat().st_ino).encode()
        if not place.exists() or place.read_bytes() != number:
            restore_times(metadata)
            write_whole(place, number)
    except OSError as error:
        raise UserError(f"{error.filename}: cannot be written: {error.strerror}") from None


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


def mark_incomplete(results: Path, folders: list[str]) -> None:
    """Mark folders that lack a file: Snakemake looks only whether an output exists."""
    for name in filter(os.path.exists, folders):
        mark(record_path(results / STATE / "incomplete", name))


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


def left_standing(workflow: Any) -> list[str]:
    """The outputs of jobs that did not run and whose settings or inputs differ from their records."""
    if workflow.dag_settings is None or workflow.dag is None or workflow.persistence is None:
        return []  # it ended before planning
    triggers = {str(trigger) for trigger in workflow.rerun_triggers}
    if triggers.issuperset(USED):
        return []
    return _otherwise(workflow, [job for job in workflow.dag.jobs if not workflow.dag.needrun(job)])


def refuse_false_records(workflow: Any) -> None:
    """Raise UserError if `--touch` would record settings or inputs with which no job made the files."""
    if not workflow.touch:
        return
    dag = workflow.dag
    planned = [job for job in dag.jobs if dag.needrun(job) and workflow.persistence.has_metadata(job)]
    newer = [job for job in planned if dag.reason(job).updated_input]
    if files := sorted({*_otherwise(workflow, planned), *(str(path) for job in newer for path in job.output)}):
        what = f"{len(files)} files were made with other settings, code or inputs than now, such as {files[0]}"
        raise UserError(
            f"--touch: {what}; run them again (--touch is for files without a record of how they were made)"
        )


def _otherwise(workflow: Any, jobs: list[Any]) -> list[str]:
    """The outputs of the jobs whose records differ from their settings, code or inputs."""
    known = workflow.persistence
    changed = [job for job in jobs if known.params_changed(job) or any(known.input_changed(job))]
    return sorted(str(path) for job in changed for path in job.output)


def warn_at_the_end(workflow: Any) -> None:
    """Warn at the end of the process about the results that it left unchanged."""

    def warn() -> None:
        if files := left_standing(workflow):
            what = f"{len(files)} files were made with other settings or inputs than the configuration now has"
            cure = "without --rerun-triggers they are made again"
            print(f"warning: {what}, and stay as they are, such as {files[0]}; {cure}", file=sys.stderr)

    atexit.register(warn)
