"""The peak memory of this process, as Linux counts it.

`getrusage` does not measure a job: a process starts with its parent's peak, so that a job of 30 MB would be reported
with the hundreds of megabytes, or thousands for a large plan, that Snakemake takes.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_rss_bytes(status: Path = STATUS) -> int:
    """The peak resident memory since this program was started, in bytes; without Linux, by getrusage."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB$", status.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS counts bytes
