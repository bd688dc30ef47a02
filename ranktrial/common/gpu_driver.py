"""The NVIDIA driver of this machine, and why a build of torch cannot use it. Reads /proc, writes nothing.

A driver runs programs of its own CUDA generation and of earlier ones. The versions are those of NVIDIA's table of minor
version compatibility (docs.nvidia.com/deploy/cuda-compatibility).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

VERSION = Path("/proc/driver/nvidia/version")
NEEDED = {13: "580.65.06", 12: "525.60.13", 11: "450.80.02"}  # CUDA generation -> the oldest driver
BUILDS = {13: "cu130", 12: "cu126"}  # CUDA generation -> what `make setup TORCH=` installs


def driver_version(path: Path = VERSION) -> str | None:
    """The version of the loaded driver; None without one."""
    try:
        found = re.search(r"\b\d{3,}\.\d+(?:\.\d+)?\b", path.read_text().partition("\n")[0])
    except OSError:
        return None
    return found[0] if found else None


def needed_driver(cuda: str) -> str | None:
    """The oldest driver that runs a CUDA version, such as 12.6; None for an unknown generation."""
    return NEEDED.get(int(cuda.partition(".")[0]))


def is_at_least(driver: str, needed: str) -> bool:
    return _numbers(driver) >= _numbers(needed)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def fitting_build(driver: str) -> str | None:
    """The newest build of torch that a driver runs; None if it is too old for all."""
    return next((build for cuda, build in BUILDS.items() if is_at_least(driver, NEEDED[cuda])), None)


def why_unusable(torch_version: str, cuda: str | None, driver: str | None, error: str = "") -> str:
    """Why torch, built for `cuda` (None: for processors), cannot use a GPU with this driver, and what to do.

    `error` is torch's own message, for a reason that the versions do not show.
    """
    if driver is None:
        return f"no NVIDIA driver is loaded on this machine ({VERSION}); install one, or use a node that has it"
    build = fitting_build(driver)
    oldest = min(NEEDED[generation] for generation in BUILDS)
    cure = f"make setup TORCH={build}" if build else f"install driver {oldest} or newer"
    if cuda is None:
        return f"torch {torch_version} is built for processors, and the driver is {driver}: {cure}"
    needed = needed_driver(cuda)
    built = f"torch {torch_version} is built for CUDA {cuda}"
    if needed and not is_at_least(driver, needed):
        newer = f", or install driver {needed} or newer" if build else ""
        return f"{built}, which needs driver {needed}, and the driver is {driver}: {cure}{newer}"
    said = f" ({' '.join(error.split())[:200]})" if error else ""
    return f"{built}, and driver {driver} is new enough, but the GPU does not start{said}: see nvidia-smi"


def why_torch_cannot(torch: Any) -> str:
    """Why this torch, as imported, cannot use a GPU of this machine, and what to do."""
    error = ""
    try:
        torch.cuda.init()
    except Exception as raised:  # AssertionError, RuntimeError or torch.AcceleratorError, by version and reason
        error = str(raised).partition("\n")[0]
    return why_unusable(torch.__version__, torch.version.cuda, driver_version(), error)
