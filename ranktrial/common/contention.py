"""The other work of a machine while a job was timed: the mean number of cores that other processes kept busy.

Reads the counters of Linux in /proc; without them, nothing is known. Other work is that of other jobs of the
experiment, of other users, and of other virtual machines on the same host if they kept this one waiting.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
SHORTEST = 0.2  # seconds: the counters have a resolution of a hundredth
_BUSY = (0, 1, 2, 5, 6, 7)  # user, nice, system, irq, softirq, steal: the columns of /proc/stat that are work
_PARENT, _OWN = 1, slice(11, 15)  # of /proc/PID/stat behind the name: the parent, and times with those of dead children


class Counted(NamedTuple):
    """The seconds of processor time used so far by all processes, and by this one with its children."""

    at: float
    every: float
    own: float


def counted(proc: Path = PROC) -> Counted | None:
    """The counters now; None if they cannot be read."""
    try:
        hertz = os.sysconf("SC_CLK_TCK")
        columns = (proc / "stat").read_text().split("\n", 1)[0].split()[1:]
        every = sum(int(columns[place]) for place in _BUSY) / hertz
        return Counted(time.monotonic(), every, _of_family(os.getpid(), proc) / hertz)
    except (OSError, ValueError, IndexError):
        return None


def other_cores(start: Counted | None, end: Counted | None) -> float | None:
    """The mean number of cores that other processes kept busy between two readings; None if it is not known."""
    if start is None or end is None or end.at - start.at < SHORTEST:
        return None
    others = (end.every - start.every) - (end.own - start.own)
    return round(max(0.0, others / (end.at - start.at)), 2)


def _of_family(process: int, proc: Path) -> int:
    """The ticks of a process and its living descendants; those of ended processes are counted in their parents."""
    ticks, parents = {}, {}
    for path in proc.glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        number = int(path.parent.name)
        parents[number], ticks[number] = int(fields[_PARENT]), sum(map(int, fields[_OWN]))
    family, grown = {process}, 0
    while len(family) > grown:
        grown = len(family)
        family |= {child for child, parent in parents.items() if parent in family}
    return sum(ticks.get(member, 0) for member in family)
