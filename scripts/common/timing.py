"""Measured time and memory (`timing.json`): monotonic wall clock, read after the GPU has finished its queued work."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from scripts.common.files import atomic_text


def clock() -> float:
    """Seconds on the monotonic clock, after all queued GPU work is done."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


def latency(seconds: list[float]) -> dict[str, float]:
    """Mean, median (p50) and 95th percentile of per-query times, in milliseconds, and their number n."""
    values = np.asarray(seconds) * 1000
    p50, p95 = np.percentile(values, [50, 95])
    return {"n": len(seconds), "mean": float(values.mean()), "p50": float(p50), "p95": float(p95)}


def single_seconds(task: Callable, items: list, most: int = 100, longest: float = 5) -> list[float]:
    """Seconds that `task` takes for each of the first `most` items, run one at a time, for about `longest` seconds."""
    seconds: list[float] = []
    for item in items[:most]:
        start = clock()
        task(item)
        seconds.append(clock() - start)
        if sum(seconds) > longest:
            break
    return seconds


def machine() -> dict:
    """The machine of the measurement: device, processor, threads, peak resident and GPU memory in bytes, versions."""
    torch = sys.modules.get("torch")
    cuda = torch is not None and torch.cuda.is_available()
    packages = ("torch", "transformers", "sentence-transformers", "onnxruntime", "openvino", "pyserini")
    used = [name for name in packages if name.replace("-", "_") in sys.modules]
    return {
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "processor": processor(),
        "threads": torch.get_num_threads() if torch is not None else None,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
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
    """Write `timing.json`: the figures given (seconds unless the key says otherwise) and the machine."""
    with atomic_text(path) as file:
        json.dump(machine() | figures, file, indent=2, sort_keys=True)
        file.write("\n")
