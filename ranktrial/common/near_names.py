"""The known name that was probably meant by an unknown one; reads and writes nothing."""

from __future__ import annotations

import difflib
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
