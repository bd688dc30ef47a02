"""Fonts of figures: DejaVu Sans, and for characters that it lacks another installed font that has them.

Reads the fonts that are installed; writes nothing. DejaVu Sans comes with matplotlib, so every machine draws the same
figure; only a text in another script (Japanese, Chinese, Devanagari …) takes a further font, from the system or from an
installed Python package. A character that no font has is drawn as a box in PNG and PDF; SVG keeps it as text.
"""

from __future__ import annotations

import logging
import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, FontPath, FontProperties, findSystemFonts, fontManager, get_font
from matplotlib.text import Text

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # that a fallback font has no bold is no news

FAMILY = "DejaVu Sans"
_FONT_FILES = (".ttf", ".otf", ".ttc")
_PLACEHOLDERS = "Last Resort"  # a font that has a box for every character
_JAPANESE = range(0x3040, 0x3100)  # hiragana and katakana
_KOREAN = range(0xAC00, 0xD7B0)


def families(text: str) -> tuple[str, ...]:
    """The font families that a text is drawn in, in the order in which a character is looked up."""
    return FAMILY, *_further(missing(text))[0]


def missing(text: str) -> frozenset[str]:
    """The visible characters of a text that DejaVu Sans lacks."""
    known = _characters(FontPath(fontManager.findfont(FontProperties(family=FAMILY)), 0))
    return frozenset(
        char for char in text if ord(char) not in known and unicodedata.category(char)[0] not in "CZ"
    )  # no controls, no spaces


def use_further_fonts(figure: Figure, name: str) -> None:
    """Give each text of a figure the fonts that its characters need, and say in one line which no font has."""
    without: set[str] = set()
    for text in figure.findobj(Text):
        if lacking := missing(text.get_text()):
            found, unknown = _further(lacking)
            text.set_fontfamily([FAMILY, *found])
            without |= unknown
    if without:
        shown = "".join(sorted(without)[:12]) + ("…" if len(without) > 12 else "")
        print(
            f"{name}: no installed font has {shown}, which PNG and PDF show as boxes; install one, such as Debian's "
            "fonts-noto-cjk for Chinese, Japanese and Korean",
            file=sys.stderr,
        )


@contextmanager
def missing_glyphs_reported_once() -> Iterator[None]:
    """Without matplotlib's own warning for each glyph that is missing: `use_further_fonts` reports all in one line."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


@cache
def _further(characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The fewest further families, best first, that have these characters, and the characters that none has."""
    found: list[str] = []
    for entry in _candidates(characters) if characters else []:
        with suppress(OSError, RuntimeError):  # a font file that cannot be read
            if has := {char for char in characters if ord(char) in _characters(FontPath(entry.fname, entry.index))}:
                found.append(entry.name)
                characters -= has
        if not characters:
            break
    return tuple(found), characters


def _candidates(characters: frozenset[str]) -> list[FontEntry]:
    """Upright fonts of regular weight; first Noto Sans of the language of these characters, then other sans-serifs."""
    _find_new_fonts()
    codes = {ord(char) for char in characters}
    language = "JP" if codes & set(_JAPANESE) else "KR" if codes & set(_KOREAN) else "SC"

    def rank(entry: FontEntry) -> tuple[bool, bool, bool, str]:
        name = entry.name
        return not name.startswith("Noto Sans"), not name.endswith(language), "Serif" in name, name

    usual = [entry for entry in fontManager.ttflist if entry.style == "normal" and entry.weight in (400, "normal")]
    return sorted((entry for entry in usual if not entry.name.startswith(_PLACEHOLDERS)), key=rank)


@cache
def _find_new_fonts() -> None:
    """Add fonts of installed Python packages, and of the system those installed since matplotlib listed them."""
    in_packages = (
        package.locate_file(file)
        for package in distributions()
        for file in package.files or []
        if file.suffix.lower() in _FONT_FILES and "matplotlib" not in file.parts
    )
    known = {Path(entry.fname) for entry in fontManager.ttflist}
    for path in sorted({Path(str(path)) for path in (*findSystemFonts(), *in_packages)} - known):
        with suppress(Exception):  # whatever is wrong with it, it is a font that cannot be used
            fontManager.addfont(path)


@cache
def _characters(path: FontPath) -> frozenset[int]:
    """The code points for which a font has glyphs."""
    return frozenset(get_font([path]).get_charmap())
