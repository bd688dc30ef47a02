"""Characters that no text to be shown may hold: nobody sees them, and XML, LaTeX or a terminal may act on them."""

from __future__ import annotations

import re
import unicodedata

# Control characters, line and paragraph separators, marks that turn the direction of what follows, halves of surrogate
# pairs, and what is no character of XML.
_REFUSED = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
REFUSED = re.compile(f"[{_REFUSED}]")
REFUSED_IN_FILES = re.compile(f"(?![\t\n\r])[{_REFUSED}]")  # several lines and tabs are part of any text file
_USUAL = {"\0": "NUL", "\t": "a tab", "\n": "a newline", "\r": "a carriage return", "\x1b": "an escape sign"}


def named(character: str) -> str:
    """A character in words, such as `a newline` or `U+202E (RIGHT-TO-LEFT OVERRIDE)`."""
    if character in _USUAL:
        return _USUAL[character]
    name = unicodedata.name(character, "a control character" if unicodedata.category(character) == "Cc" else "")
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: it is empty, or spaces and signs without a shape."""
    return all(sign.isspace() or unicodedata.category(sign) in ("Cf", "Mn") for sign in text)


def shortened(value, longest: int = 60) -> str:
    """A value as it is written in Python, cut to a length that fits a message of one line."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
