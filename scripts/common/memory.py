"""The most memory that this process had; reads what Linux counts of it.

What `getrusage` tells is no measure of a job: a process begins with what its parent had, so that a job of Snakemake's
which takes 30 MB is said to have taken the hundreds, or on a large plan the thousands, that Snakemake takes.
"""

from __future__ import annotations

import re
import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_rss_bytes(status: Path = STATUS) -> int:
    """The most resident memory since this program was started, in bytes; where there is no Linux, by getrusage."""
    try:
        found = re.search(r"^VmHWM:\s*(\d+) kB$", status.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024  # macOS counts bytes
