"""An error that the user can correct, as a message of one line.

Characters that are refused in text to be shown: they are invisible, and XML, LaTeX or a terminal may act on them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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


def alike(text: str, others: Iterable[str]) -> str | None:
    """How the first of `others` that looks like a text differs from it; None if none does.

    Texts look alike if only invisible characters, white space, case, the form of letters or leading zeros differ.
    """
    wanted = _looks(text)
    other = next((one for one in others if one != text and _looks(one) == wanted), None)
    if other is None:
        return None
    for one, reference in ((other, text), (text, other)):
        if hidden := next((sign for sign in one if sign not in reference and _is_hidden(sign)), None):
            return f"{shortened(one)} contains {named(hidden)}"
    signs = next((pair for pair in zip(text, other, strict=False) if pair[0] != pair[1]), None)
    if signs and not all(sign.isascii() for sign in signs):
        return f"{shortened(other)} has {named(signs[1])} in place of {named(signs[0])}"
    return f"there is {shortened(other)}"


def _is_hidden(sign: str) -> bool:
    return not sign.isprintable() or sign.isspace() or unicodedata.category(sign) in ("Cf", "Mn")


def _looks(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text)
    visible = "".join(sign for sign in plain if not _is_hidden(sign)).casefold()
    return visible.lstrip("0") or visible


def shortened(value, longest: int = 60) -> str:
    """The Python representation of a value, cut to `longest` characters so that it fits a message of one line."""
    text = repr(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


class UserError(Exception):
    """An error in the user's input; the message names the file and line (or key), what is wrong, what is expected."""

    def __str__(self) -> str:
        """The message on one line: characters that would end the line or control a terminal are escaped."""
        return REFUSED.sub(lambda character: character[0].encode("unicode_escape").decode(), super().__str__())
