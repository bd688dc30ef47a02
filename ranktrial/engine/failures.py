"""The error lines of failed jobs, repeated at the end of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

ERROR = re.compile(r"(?:error|OSError|slurmstepd\S* error): (.*)")
OF_SLURM = "slurm_logs"  # the folder of Slurm's own logs
STARTED = "Building DAG of jobs"  # what Snakemake writes first in each job


def errors_of_logs(folders: Iterable[Path], since: float) -> list[str]:
    """The distinct error lines of logs below these folders that were modified since a time, each with its log.

    An error in several logs is reported with the first, in the order of the folders.
    """
    logs = (log for folder in folders for log in sorted(folder.rglob("*.log")))
    first_log: dict[str, Path] = {}
    for message, log in _errors(logs, since):
        first_log.setdefault(message, log)
    return [f"error: {message}  [{log}]" for message, log in first_log.items()]


def first_error(logs: Iterable[Path], since: float) -> str | None:
    """The first error, with its log, in those of these logs that were modified since a time; None without one."""
    return next((f"{message}  [{log}]" for message, log in _errors(logs, since)), None)


def _errors(logs: Iterable[Path], since: float) -> Iterator[tuple[str, Path]]:
    """The messages of error lines, each with its log, of existing logs that were modified since a time.

    If a job could not start, the last line of Slurm's log stands for them.
    """
    for log in logs:
        if log.is_file() and log.stat().st_mtime >= since:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            found = [error[1] for line in lines if (error := ERROR.match(line))]
            if not found and OF_SLURM in log.parts and not any(line.startswith(STARTED) for line in lines):
                found = [line.strip() for line in lines if line.strip()][-1:]  # why the job could not start
            yield from ((error, log) for error in found)
