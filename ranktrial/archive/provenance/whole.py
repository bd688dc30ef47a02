"""Checks that an experiment's results are complete and unchanged before they are archived.

Reads the files, the ledger of what jobs wrote (results/state/sha256) and Snakemake's checksums of what jobs read. So an
archive never states the SHA-256 of data that no job read.
"""

from __future__ import annotations

import os
from pathlib import Path

from ranktrial.archive.crate import layout
from ranktrial.archive.provenance.jobs import file_sha256, files_of
from ranktrial.archive.provenance.records import Job
from ranktrial.common.digests import content_sha256
from ranktrial.common.errors import UserError
from ranktrial.common.ledger import recorded
from ranktrial.common.paths import OUR_CODE
from ranktrial.engine.job_code import modules_behind

SHOWN = 5  # the most names in a message


def check_whole(jobs: list[Job], left_out: dict[str, dict], config: str, extent: str) -> None:
    """Raise UserError, with the files' names and what to do, if results are missing or changed."""
    if missing := missing_outputs(jobs, left_out):
        raise UserError(
            f"{config}: incomplete: {_listed(missing)} missing, and jobs behind the results wrote or read that; make "
            f"it again: snakemake --configfile {config} -- {' '.join(missing[:SHOWN])}"
        )
    if extent == layout.FULL and (gone := [name for name in left_out if not Path(name).exists()]):
        raise UserError(
            f"{config}: a full archive holds everything, and {_listed(gone)} left out by the archive from which these "
            "results came; make resume FILL=1 makes data again, or write one without FULL=1"
        )
    if changed := changed_outputs(jobs):
        raise UserError(
            f"{config}: {_listed(changed)} no longer what their jobs wrote; nothing was archived: delete them and make "
            f"run CONFIG={config}"
        )
    if other := other_code(jobs):
        raise UserError(
            f"{config}: {_listed(other)} no longer the code that the jobs ran, or one of its modules; nothing was "
            f"archived: make run CONFIG={config}"
        )
    if replaced := replaced_data(jobs):
        raise UserError(
            f"{config}: {_listed(replaced)} no longer what the jobs read; nothing was archived: put the data back, or "
            f"make run CONFIG={config} with the new"
        )


def other_code(jobs: list[Job]) -> list[str]:
    """The scripts whose meaning, with their modules, has changed since their jobs ran."""
    return sorted({job.code["script"] for job in jobs if job.code and not modules_behind(job.code)})


def missing_outputs(jobs: list[Job], left_out: dict[str, dict]) -> list[str]:
    """Files in results/ that a job behind the results wrote or read and that are missing, unless in `left_out`."""
    named = {path for job in jobs for path in [*job.outputs, *job.inputs] if path.startswith("results/")}
    return sorted(path for path in named if not Path(path).exists() and not _left_out(path, left_out))


def _left_out(path: str, left_out: dict[str, dict]) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in left_out)


def changed_outputs(jobs: list[Job]) -> list[str]:
    """Files in results/ that are not what their job wrote, by the ledger or by what other jobs read."""
    changed = set()
    for path in {path for job in jobs for path in job.outputs if Path(path).exists()}:
        recorded_files = recorded(Path(path))
        if recorded_files is None:
            continue
        present = {file.as_posix() for file in files_of(Path(path)) if not _hidden(file)}
        changed |= present ^ recorded_files.keys()
        changed |= {name for name in present & recorded_files.keys() if not _is(Path(name), recorded_files[name])}
    return sorted(changed | {path for path in _read_otherwise(jobs) if path.startswith("results/")})


def replaced_data(jobs: list[Job]) -> list[str]:
    """Files outside results/ that are not what a job read, or without a checksum and newer than the job's start."""
    replaced = {path for path in _read_otherwise(jobs) if not path.startswith("results/")}
    for job in jobs:
        planned = _planned_with(job)
        replaced |= {path for path, expected in planned.items() if os.path.exists(path) and not _holds(path, expected)}
        outside = [path for path in job.inputs if not path.startswith(("results/", *OUR_CODE))]
        checksums = job.record["input_checksums"] or {}
        for path in outside:
            checked = path in checksums or any(Path(path).is_relative_to(folder) for folder in planned)
            if not checked and Path(path).is_file() and Path(path).stat().st_mtime > job.record["starttime"]:
                replaced.add(path)
    return sorted(replaced)


def _planned_with(job: Job) -> dict[str, str]:
    """The user's own files and folders that a job read -> the SHA-256 of their content, from the job's settings."""
    return (job.settings or {}).get("sha256_of", {})


def _holds(path: str, expected: str) -> bool:
    return content_sha256(Path(path)) == expected


def _read_otherwise(jobs: list[Job]) -> set[str]:
    """The files whose checksum is no longer the one in Snakemake's records of the jobs that read them."""
    return {
        path
        for job in jobs
        for path, checksum in (job.record["input_checksums"] or {}).items()
        if checksum and path in job.inputs and not _is(Path(path), checksum.removeprefix("sha256:"))
    }


def _is(path: Path, sha256: str) -> bool:
    """Whether a file has this SHA-256. Folders and missing files pass: other checks report them."""
    if path.is_file():
        return file_sha256(path) == sha256
    return path.is_dir() or not path.exists()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _listed(paths: list[str]) -> str:
    more = ", …" if len(paths) > SHOWN else ""
    return f"{', '.join(paths[:SHOWN])}{more} {'is' if len(paths) == 1 else 'are'}"
