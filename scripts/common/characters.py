"""Characters that are refused in text to be shown: they are invisible, and XML, LaTeX or a terminal may act on them."""

from __future__ import annotations

import re
import unicodedata

# Control characters, line and paragraph separators, marks that change the direction of text, halves of surrogate pairs,
# and what XML does not allow.
_REFUSED = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff"
REFUSED = re.compile(f"[{_REFUSED}]")
REFUSED_IN_FILES = re.compile(f"(?![\t\n\r])[{_REFUSED}]")  # several lines and tabs are part of any text file
_USUAL = {"\0": "NUL", "\t": "a tab", "\n": "a newline", "\r": "a carriage return", "\x1b": "an escape sign"}


def named(character: str) -> str:
    """The description of a character, such as `a newline` or `U+202E (RIGHT-TO-LEFT OVERRIDE)`."""
    if character in _USUAL:
        return _USUAL[character]
    name = unicodedata.name(character, "a control character" if unicodedata.category(character) == "Cc" else "")
    return f"U+{ord(character):04X}" + (f" ({name})" if name else "")


def is_blank(text: str) -> bool:
    """Whether a text is empty or consists of spaces and invisible characters."""
    return all(character.isspace() or unicodedata.category(character) in ("Cf", "Mn") for character in text)


def shortened(value, longest: int = 60) -> str:
    """The Python representation of a value, cut to `longest` characters so that it fits a message of one line."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
