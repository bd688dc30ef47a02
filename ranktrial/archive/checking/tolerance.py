"""Compares two files byte for byte, or number by number within a stated tolerance.

On other hardware, recomputed sums of doubles may differ in the last digits; nothing else may.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

RELATIVE, ABSOLUTE = 1e-9, 1e-12  # doubles have 16 digits; a sum over thousands of queries loses a few of them
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
DATES = re.compile(rb"<dc:date>.*?</dc:date>|/(?:Creation|Mod)Date \([^)]*\)", re.DOTALL)
BINARY = (".png", ".pdf", ".gz")

IDENTICAL, EQUAL, DIFFERENT = "identical", "equal within tolerance", "different"


def compare(ours: Path, theirs: Path) -> tuple[str, str]:
    """The verdict and a text of the first difference. Dates inside figures are ignored."""
    a, b = (DATES.sub(b"", path.read_bytes()) for path in (ours, theirs))
    if a == b:
        return IDENTICAL, ""
    if ours.suffix in BINARY:
        return DIFFERENT, "bytes differ"
    try:
        return _texts(a.decode(), b.decode())
    except UnicodeDecodeError:
        return DIFFERENT, "bytes differ"


def _texts(a: str, b: str) -> tuple[str, str]:
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        pairs = zip(a.splitlines(), b.splitlines(), strict=False)
        line = next((n for n, (x, y) in enumerate(pairs, 1) if NUMBER.sub("#", x) != NUMBER.sub("#", y)), "end")
        return DIFFERENT, f"line {line}: the text differs"
    for first, second in zip(NUMBER.finditer(a), NUMBER.finditer(b), strict=True):
        if not math.isclose(float(first[0]), float(second[0]), rel_tol=RELATIVE, abs_tol=ABSOLUTE):
            line = a.count("\n", 0, first.start()) + 1
            return DIFFERENT, f"line {line}: {first[0]} became {second[0]}"
    return EQUAL, f"numbers agree to a relative {RELATIVE:g} or an absolute {ABSOLUTE:g}"
