"""Measured time, energy and memory (`timing.json`): monotonic wall clock, read after the GPU has finished its work."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ranktrial.common.contention import Counted, counted, other_cores
from ranktrial.common.energy import joules
from ranktrial.common.files import write_json
from ranktrial.common.memory import peak_rss_bytes

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
    packages = ("torch", "transformers", "sentence-transformers", "onnxruntime", "openvino", "pyserini")
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
