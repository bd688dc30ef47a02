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

from scripts.common.contention import Counted, counted, other_cores
from scripts.common.energy import joules
from scripts.common.files import write_json
from scripts.common.memory import peak_rss_bytes

# What a timing says of the answers of an endpoint.
CALLS = ("calls", "prompt_tokens", "completion_tokens", "cost")


class Seconds(float):
    """Seconds with the joules that the machine's counters rose by meanwhile, by counter; a sum has those of its parts.

    A part that is a plain number above 0 has none that are known, and neither has a sum with it.
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


_begun: list[Counted | None] = []  # the processors' counters at the first look at the clock
_elsewhere = [0.0]  # seconds that others computed for this job, less those that it waited for them


def clock() -> Seconds:
    """Seconds on the monotonic clock and the counters of energy, after all queued GPU work is done."""
    if not _begun:
        joules()  # the first reading starts NVML, which takes seconds: it is in no time
        _begun.append(counted())
    return Seconds(now(), joules())


def now() -> float:
    """The same without the counters, which take a while to read."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() + _elsewhere[0]


def computed_elsewhere(seconds: float, waited: float) -> None:
    """Let the clock count the seconds of an endpoint's answers in place of those that this job waited for them.

    So answers that were kept from before count as when they came, and those that came side by side as one by one.
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

    `other_cores` are those that other work kept busy since the first look at the clock, where that is known.
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
    """The processor's model name and how many of its cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0].split(':', 1)[1].strip() if names else platform.machine()}, {cores} cores"


def write_timing(path: Path, **figures) -> None:
    """Write `timing.json`: the figures given (seconds unless the key says otherwise) and the machine.

    With `seconds` go the joules that were counted in them (`energy_joules`, by counter), where any were.
    """
    if counted := getattr(figures.get("seconds"), "joules", {}):
        figures["energy_joules"] = {name: round(value, 3) for name, value in counted.items()}
    write_json(path, machine() | figures, indent=2, sort_keys=True)
