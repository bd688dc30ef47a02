"""The energy that the machine reports to have used: RAPL of Intel and AMD processors, NVML of Nvidia GPUs.

RAPL counts the joules of a processor's packages, for all processes on them, and of no other part of the machine; since
2020, Linux lets only root read it. NVML counts those of a whole graphics card, from Volta on. If neither can be read,
there are no numbers: nothing is estimated.
"""

from __future__ import annotations

import re
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

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
