"""Plain text as Markdown; reads and writes nothing."""

from __future__ import annotations

import re

# Code, mathematics, emphasis; what could be a link, a footnote, a tag, an entity.
_MARKUP = re.compile(
    r"[\\`$]|(?<!\s)\*|\*(?!\s)|~(?=~)|(?<![^\W_])_(?=\S)|\](?=[(\[:])|\[(?=\^)|<(?=[a-zA-Z/!?])|&(?=#?\w+;)"
)


def escape(text: str) -> str:
    """Plain text as Markdown: what would be code, emphasis, a link, HTML or mathematics is shown as it is."""
    return _MARKUP.sub(r"\\\g<0>", text.replace("\N{NO-BREAK SPACE}", " "))
