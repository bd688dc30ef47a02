"""What every value of a configuration keeps to, whatever the schema says of it: it can be computed with and be shown.

The schema is for what a key means. That numbers are finite and texts hold nothing that a reader cannot see is no
matter of keys, so it is looked after here, for keys that are still to come too.
"""

from __future__ import annotations

import math
from typing import Any

from scripts.common.characters import REFUSED, named, shortened
from scripts.common.errors import UserError
from scripts.common.numerals import LARGEST

LONGEST_TEXT = 4096  # characters: no path is longer
_EXACT = 2**53  # above, floating-point numbers are no longer whole numbers one by one


def why_not_plain(value: Any) -> str | None:
    """Why one value, not what a list or mapping holds, can neither be computed with nor shown; None where it can."""
    if value is None or isinstance(value, bool | list | dict):
        return None
    if isinstance(value, float):
        finite = math.isfinite(value)
        return None if finite else f"{value} is no number that can be computed with; a finite one is wanted"
    if isinstance(value, int):
        return "a number beyond 64 bits" if abs(value) > LARGEST else None
    if not isinstance(value, str):
        return f"{value} is a {type(value).__name__} to YAML, and no value here is one; for a text write '{value}'"
    if odd := REFUSED.search(value):
        return f"the text {shortened(value)} holds {named(odd[0])}; one line of signs that can be seen is wanted"
    if len(value) > LONGEST_TEXT:
        return f"a text of {len(value):,} characters; at most {LONGEST_TEXT:,} are wanted"
    return None


def check_plain(value: Any, source: str, path: tuple[str, ...] = ()) -> None:
    """Raise UserError, with the key, unless each value and key in a configuration is plain."""
    where = ": ".join([source, *([".".join(path)] if path else [])])
    if said := why_not_plain(value):
        raise UserError(f"{where}: {said}")
    if isinstance(value, dict):
        for key, part in value.items():
            if not isinstance(key, str) or why_not_plain(key):
                raise UserError(f"{where}: the key {shortened(key)}: {why_not_plain(key) or 'is no text; quote it'}")
            check_plain(part, source, (*path, shortened(key)[1:-1]))
    elif isinstance(value, list):
        for number, part in enumerate(value, 1):
            check_plain(part, source, (*path[:-1], f"{path[-1]}[{number}]") if path else (f"[{number}]",))


def whole_numbers(value: Any) -> Any:
    """The same value with each whole number as one: 10.0 becomes 10, so that both ways to write it are one setting."""
    if isinstance(value, dict):
        return {key: whole_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [whole_numbers(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value
