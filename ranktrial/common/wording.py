"""Names, numbers and plain text as they are read and shown; reads and writes nothing.

The known name that was probably meant by an unknown one.

Numbers in text files: ASCII digits, finite, within 64 bits.

Python's `float` and `int` also accept `1_000`, digits of other scripts, `nan` and `infinity`. Other tools do not, so
these functions refuse them.

Plain text as Markdown.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable


def closest(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names closest to a word, ignoring case; empty if none is close."""
    by_case = {name.lower(): name for name in known}
    return [by_case[name] for name in difflib.get_close_matches(word.lower(), by_case, most)]


def near(word: str, known: Iterable[str]) -> str:
    """A question that suggests the known name closest to a word; empty if none is close."""
    return "".join(f"did you mean {name!r}?" for name in closest(word, known))


def hint(word: str, known: Iterable[str]) -> str:
    """The question as a part of a message, in brackets after the name."""
    question = near(word, known)
    return f" ({question})" if question else ""


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


# Code, mathematics, emphasis; what could be a link, a footnote, a tag, an entity.
_MARKUP = re.compile(
    r"[\\`$]|(?<!\s)\*|\*(?!\s)|~(?=~)|(?<![^\W_])_(?=\S)|\](?=[(\[:])|\[(?=\^)|<(?=[a-zA-Z/!?])|&(?=#?\w+;)"
)


def escape(text: str) -> str:
    """Plain text as Markdown: what would be code, emphasis, a link, HTML or mathematics is shown as it is."""
    return _MARKUP.sub(r"\\\g<0>", text.replace("\N{NO-BREAK SPACE}", " "))
