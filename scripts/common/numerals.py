"""Numbers as they stand in text: ASCII digits, finite, of a size that the programs behind can hold.

Python's own `float` and `int` also take `1_000`, the digits of other scripts, `nan` and `infinity`, which no format
here means; what is read through these functions is what every other tool reads.
"""

from __future__ import annotations

import math
import re

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
LARGEST = 2**63 - 1  # what a 64-bit integer holds


def finite(text: str) -> float | None:
    """The finite number that a text states in decimal notation; None where it states none, or one beyond 64 bits."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def integer(text: str) -> int | None:
    """The whole number that a text states in decimal digits; None where it states none, or one beyond 64 bits."""
    if not _INTEGER.fullmatch(text):
        return None
    value = int(text)
    return value if abs(value) <= LARGEST else None
