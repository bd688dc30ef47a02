"""Numbers in text files: ASCII digits, finite, within 64 bits.

Python's `float` and `int` also accept `1_000`, digits of other scripts, `nan` and `infinity`. Other tools do not, so
these functions refuse them.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
LARGEST = 2**63 - 1  # the largest signed 64-bit integer


def finite(text: str) -> float | None:
    """The finite number written in decimal notation; None if the text is not one, or is beyond 64 bits."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def integer(text: str) -> int | None:
    """The integer written in decimal digits; None if the text is not one, or is beyond 64 bits."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if abs(value) <= LARGEST else None
