"""Whether an experiment's results are whole and what their jobs wrote: nothing else is archived.

Reads the files, the ledger of what jobs wrote (results/state/sha256) and the checksums that Snakemake kept of what jobs
read. An archive never states the SHA-256 of data that no job read.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

from scripts.archive.crate import layout
from scripts.archive.provenance.commands import words_of
from scripts.archive.provenance.jobs import file_sha256, files_of, settings_of
from scripts.archive.provenance.records import Job
from scripts.common.digests import content_sha256
from scripts.common.errors import UserError
from scripts.common.ledger import recorded

SHOWN = 5  # names that a message holds


def check_whole(jobs: list[Job], left_out: dict[str, dict], config: str, extent: str) -> None:
    """Raise UserError, with the files' names and what to do, where results are missing or changed."""
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
    if replaced := replaced_data(jobs):
        raise UserError(
            f"{config}: {_listed(replaced)} no longer what the jobs read; nothing was archived: put the data back, or "
            f"make run CONFIG={config} with the new"
        )


def missing_outputs(jobs: list[Job], left_out: dict[str, dict]) -> list[str]:
    """What a job behind the results wrote, or read from results/, and is not there; `left_out` may be missing."""
    named = {path for job in jobs for path in [*job.outputs, *job.inputs] if path.startswith("results/")}
    return sorted(path for path in named if not Path(path).exists() and not _left_out(path, left_out))


def _left_out(path: str, left_out: dict[str, dict]) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in left_out)


def changed_outputs(jobs: list[Job]) -> list[str]:
    """The files of results/ whose content is not what their job wrote, by the ledger or by what others read."""
    found = set()
    for path in {path for job in jobs for path in job.outputs if Path(path).exists()}:
        wrote = recorded(Path(path))
        if wrote is None:
            continue
        here = {file.as_posix() for file in files_of(Path(path)) if not _hidden(file)}
        found |= here ^ wrote.keys()
        found |= {name for name in here & wrote.keys() if not _is(Path(name), wrote[name])}
    return sorted(found | {path for path in _read_otherwise(jobs) if path.startswith("results/")})


def replaced_data(jobs: list[Job]) -> list[str]:
    """What lies outside results/ and is not what a job read, or is newer than a job of which nothing tells."""
    found = {path for path in _read_otherwise(jobs) if not path.startswith("results/")}
    for job in jobs:
        planned = _planned_with(job)
        found |= {path for path, expected in planned.items() if os.path.exists(path) and not _holds(path, expected)}
        outside = [path for path in job.inputs if not path.startswith(("results/", "scripts/"))]
        checksums = job.record["input_checksums"] or {}
        for path in outside:
            told = path in checksums or any(Path(path).is_relative_to(one) for one in planned)
            if not told and Path(path).is_file() and Path(path).stat().st_mtime > job.record["starttime"]:
                found.add(path)
    return sorted(found)


def _planned_with(job: Job) -> dict[str, str]:
    """The user's own files and folders that a job read -> the SHA-256 of their content, by its settings."""
    settings = settings_of(job.record)
    stated = settings.get("sha256_of") if isinstance(settings, dict) else None
    if not isinstance(stated, dict):
        return {}
    words = words_of(job.record["shellcmd"] or "") or []
    given = {before: after for before, after in pairwise(words) if before.startswith("--")}
    places = {name: given.get(f"--{name}", settings.get(name)) for name in stated}
    return {place: stated[name] for name, place in places.items() if isinstance(place, str)}


def _holds(path: str, expected: str) -> bool:
    return content_sha256(Path(path)) == expected


def _read_otherwise(jobs: list[Job]) -> set[str]:
    """What jobs read with another checksum than it has now, by Snakemake's records."""
    return {
        path
        for job in jobs
        for path, checksum in (job.record["input_checksums"] or {}).items()
        if checksum and path in job.inputs and not _is(Path(path), checksum.removeprefix("sha256:"))
    }


def _is(path: Path, sha256: str) -> bool:
    """Whether a file has this content; what is not there is told by others."""
    return file_sha256(path) == sha256 if path.is_file() else path.is_dir() or not path.exists()


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _listed(paths: list[str]) -> str:
    more = ", …" if len(paths) > SHOWN else ""
    return f"{', '.join(paths[:SHOWN])}{more} {'is' if len(paths) == 1 else 'are'}"
