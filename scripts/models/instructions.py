"""The instructions of the processor, as Linux lists them; elsewhere none is known, and what needs one is not done."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

WHOLE_SUMS = "avx512_vnni"  # adds int8 products up in 32 bits
BF16_PRODUCTS = "avx512_bf16"  # multiplies in bf16, twice as many numbers at a time as in fp32


@cache
def has(instructions: str, listed: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor has these instructions, by their name in Linux."""
    try:
        flags = re.search(r"^flags\s*:(.*)$", listed.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:  # no Linux
        return False
    return flags is not None and instructions in flags[1].split()
