"""Measured time, energy and memory (`timing.json`): monotonic wall clock, read after the GPU has finished its work.

Memory is the peak of this process, as Linux counts it. `getrusage` does not measure a job: a process starts with its
parent's peak, so that a job of 30 MB would be reported with the hundreds of megabytes, or thousands for a large plan,
that Snakemake takes.

Other work is the mean number of cores that other processes kept busy while a job was timed. This reads the counters of
Linux in /proc; without them, nothing is known. It is the work of other jobs of the experiment, of other users, and of
other virtual machines on the same host if they kept this one waiting.

Energy is what the machine reports: RAPL of Intel and AMD processors, NVML of Nvidia GPUs. RAPL counts the joules of a
processor's packages, for all processes on them, and of no other part of the machine; since 2020, Linux lets only root
read it. NVML counts those of a whole graphics card, from Volta on. If neither can be read, there are no numbers:
nothing is estimated.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import resource
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ranktrial.common.files import write_json

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


POWERCAP = Path("/sys/class/powercap")
PACKAGE = re.compile(r"intel-rapl:\d+")  # a package, not one of its parts, whose joules are among its own
SECONDS = 30.0  # between two readings: RAPL's counters wrap around to 0, under full load after minutes


class Packages:
    """The joules of all packages since the first reading; None if they cannot be read. Thread-safe."""

    def __init__(self, folder: Path = POWERCAP) -> None:
        found = sorted(path for path in folder.glob("intel-rapl:*") if PACKAGE.fullmatch(path.name))
        self.lock = threading.Lock()
        self.total = 0.0
        try:
            self.ranges = {path / "energy_uj": int((path / "max_energy_range_uj").read_text()) for path in found}
            self.last = {path: int(path.read_text()) for path in self.ranges}
        except (OSError, ValueError):
            self.ranges, self.last = {}, {}

    def joules(self) -> float | None:
        """The joules used so far."""
        with self.lock:
            try:
                counted = {path: int(path.read_text()) for path in self.last}
            except (OSError, ValueError):  # no longer readable: the count so far is incomplete
                self.last = counted = {}
            for path, now in counted.items():
                self.total += ((now - self.last[path]) % (self.ranges[path] + 1)) / 1e6
            self.last = counted
            return self.total if counted else None

    def keep_looking(self) -> None:
        """Read periodically, so that no counter wraps around twice between two readings."""

        def look() -> None:
            while True:
                time.sleep(SECONDS)
                self.joules()

        threading.Thread(target=look, daemon=True, name="energy").start()


def card_joules() -> float | None:
    """The joules that torch's graphics card has used since its driver was loaded; None if they cannot be read."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    try:
        import pynvml  # installed only in the environments of models

        name = f"GPU-{torch.cuda.get_device_properties(0).uuid}"
        return pynvml.nvmlDeviceGetTotalEnergyConsumption(card(name)) / 1000
    except Exception:  # of NVML, all of one kind, and whatever an old driver or torch lacks
        return None


@cache
def card(name: str) -> Any:
    """NVML's handle of a graphics card, cached because starting NVML and finding the card take milliseconds."""
    import pynvml

    pynvml.nvmlInit()
    return pynvml.nvmlDeviceGetHandleByUUID(name)


_packages: Packages | None = None


def joules() -> dict[str, float]:
    """The readable counters in joules: `processor` (its packages) and `gpu`; only differences have a meaning."""
    global _packages
    if _packages is None:
        _packages = Packages()
        if _packages.last:
            _packages.keep_looking()
    counted = {"processor": _packages.joules(), "gpu": card_joules()}
    return {name: value for name, value in counted.items() if value is not None}


# The keys of a timing about the answers of an endpoint.
CALLS = ("calls", "prompt_tokens", "completion_tokens", "cost")


class Seconds(float):
    """Seconds, with the joules counted in them by each counter of the machine; sums add the joules of their parts.

    The joules of a plain number above 0 are unknown, and so are those of a sum with it.
    """

    joules: dict[str, float]

    def __new__(cls, value: float = 0.0, joules: dict[str, float] | None = None) -> Seconds:
        made = super().__new__(cls, value)
        made.joules = joules or {}
        return made

    def __sub__(self, other: float) -> Seconds:
        return self._with(float(self) - float(other), other, -1)

    def __add__(self, other: float) -> Seconds:
        return self._with(float(self) + float(other), other, 1)

    __radd__ = __add__

    def _with(self, value: float, other: float, sign: int) -> Seconds:
        of_other = getattr(other, "joules", {})
        if other == 0:
            return Seconds(value, self.joules)
        if self == 0 and sign > 0:
            return Seconds(value, of_other)
        shared = self.joules.keys() & of_other.keys()
        return Seconds(value, {name: self.joules[name] + sign * of_other[name] for name in sorted(shared)})


_begun: list[Counted | None] = []  # the processors' counters at the first reading of the clock
_elsewhere = [0.0]  # seconds that endpoints computed for this job, minus those that it waited for them


def clock() -> Seconds:
    """The monotonic clock in seconds, with the energy counters, after all queued GPU work is done."""
    if not _begun:
        joules()  # the first reading starts NVML, which takes seconds and must not be timed
        _begun.append(counted())
    return Seconds(now(), joules())


def now() -> float:
    """The clock without the counters, which are slow to read."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() + _elsewhere[0]


def computed_elsewhere(seconds: float, waited: float) -> None:
    """Let the clock count the seconds of an endpoint's answers instead of those that this job waited for them.

    So cached answers count with their original times, and concurrent ones as if they were sequential.
    """
    _elsewhere[0] += seconds - waited


def latency(seconds: list[float]) -> dict[str, float]:
    """Mean, quartiles (p25, p50, p75) and 95th percentile of per-query times, in milliseconds, and their number n."""
    values = np.asarray(seconds) * 1000
    percentiles = {f"p{level}": float(np.percentile(values, level)) for level in (25, 50, 75, 95)}
    return {"n": len(seconds), "mean": float(values.mean()), **percentiles}


def single_seconds(task: Callable, items: list, most: int = 100, longest: float = 5) -> list[float]:
    """Seconds that `task` takes for each of the first `most` items, run one at a time, for about `longest` seconds."""
    seconds: list[float] = []
    for item in items[:most]:
        start = now()
        task(item)
        seconds.append(now() - start)
        if sum(seconds) > longest:
            break
    return seconds


def machine() -> dict:
    """The machine of the measurement: device, processor, threads, peak resident and GPU memory in bytes, versions.

    `other_cores` are those that other work kept busy since the first reading of the clock, if known.
    """
    others = other_cores(_begun[0], counted()) if _begun else None
    torch = sys.modules.get("torch")
    cuda = torch is not None and torch.cuda.is_available()
    packages = ("torch", "transformers", "sentence-transformers", "onnxruntime", "pyserini")
    used = [name for name in packages if name.replace("-", "_") in sys.modules]
    return {
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "processor": processor(),
        "threads": torch.get_num_threads() if torch is not None else None,
        **({} if others is None else {"other_cores": others}),
        "peak_rss_bytes": peak_rss_bytes(),
        "peak_gpu_bytes": torch.cuda.max_memory_allocated() if cuda else 0,
        "versions": {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in used},
    }


def processor() -> str:
    """The processor's model name and the number of cores that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0].split(':', 1)[1].strip() if names else platform.machine()}, {cores} cores"


def write_timing(path: Path, **figures) -> None:
    """Write `timing.json`: the figures given (seconds unless the key says otherwise) and the machine.

    The joules counted in `seconds`, if any, are written as `energy_joules`, by counter.
    """
    if counted := getattr(figures.get("seconds"), "joules", {}):
        figures["energy_joules"] = {name: round(value, 3) for name, value in counted.items()}
    write_json(path, machine() | figures, indent=2, sort_keys=True)
