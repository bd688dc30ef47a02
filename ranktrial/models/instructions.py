"""The instruction sets of the processor as Linux lists them; on other systems, none is assumed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

WHOLE_SUMS = "avx512_vnni"  # sums int8 products in 32 bits
BF16_PRODUCTS = "avx512_bf16"  # multiplies in bf16, with twice the throughput of fp32


@cache
def has(instructions: str, listed: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor has an instruction set, by its name in Linux."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", listed.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:  # not Linux
        return False
    return flags is not None and instructions in flags[1].split()
