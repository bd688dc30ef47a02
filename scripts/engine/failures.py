"""The one line in which each failed job says what is wrong, repeated at the end of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ERROR = re.compile(r"(?:error|OSError|slurmstepd\S* error): (.*)")


def errors_of_logs(folders: Iterable[Path], since: float) -> list[str]:
    """The distinct error lines of the logs below these folders that were written to since a time, each with its log.

    An error that stands in several logs is reported with the first, in the order of the folders.
    """
    logs = [log for folder in folders for log in sorted(folder.rglob("*.log")) if log.stat().st_mtime >= since]
    first_log: dict[str, Path] = {}
    for log in logs:
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            if error := ERROR.match(line):
                first_log.setdefault(error[1], log)
    return [f"error: {message}  [{log}]" for message, log in first_log.items()]
