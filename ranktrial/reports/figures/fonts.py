"""Fonts of figures, and text measured in them.

Reads the fonts that are installed; writes nothing. DejaVu Sans comes with matplotlib, so every machine draws the same
figure; only a text in another script (Japanese, Chinese, Devanagari …) takes a further font, from the system or from an
installed Python package. A character that no font has is drawn as a box in PNG and PDF; SVG keeps it as text. A font
that is asked for and not installed is an error: it is not replaced by another.

Widths and line breaks, in points, are from the font's own outlines. Those are what SVG and PDF viewers draw, so a
column that fits here fits there.
"""

from __future__ import annotations

import logging
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, FontPath, FontProperties, findSystemFonts, fontManager, get_font
from matplotlib.text import Text
from matplotlib.textpath import text_to_path

from ranktrial.common.errors import UserError
from ranktrial.common.wording import closest

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # that a fallback font has no bold is no news

FAMILY = "DejaVu Sans"
_MATPLOTLIBS_OWN = ("sans-serif",)  # what its settings say unless a font is chosen
_USUAL = (  # those that a message names where they are installed
    *("Times New Roman", "Nimbus Roman", "TeX Gyre Termes", "Liberation Serif", "STIXGeneral", "DejaVu Serif"),
    *("Helvetica", "Arial", "Nimbus Sans", "TeX Gyre Heros", "Liberation Sans", "DejaVu Sans"),
)
_FONT_FILES = (".ttf", ".otf", ".ttc")
_PLACEHOLDERS = "Last Resort"  # a font that has a box for every character
_JAPANESE = range(0x3040, 0x3100)  # hiragana and katakana
_KOREAN = range(0xAC00, 0xD7B0)


def use_font(name: str) -> None:
    """Draw all figures of this process in an installed font. Raises UserError if it is not installed."""
    check_font(name, "font")
    matplotlib.rcParams["font.family"] = [name, *([FAMILY] if name != FAMILY else [])]


def check_font(name: str, key: str) -> None:
    """Raise UserError, for the key that names it, if a font is not installed."""
    _find_new_fonts()
    installed = sorted({entry.name for entry in fontManager.ttflist if not entry.name.startswith(_PLACEHOLDERS)})
    if name not in installed:
        usual = [font for font in _USUAL if font in installed]
        some = ", ".join(dict.fromkeys([*closest(name, installed, most=3), *usual]))
        raise UserError(f"{key}: {name!r} is not installed on this machine; installed are, among others, {some}")


def first_families() -> tuple[str, ...]:
    """The font of figures, and behind one that was asked for DejaVu Sans."""
    chosen = tuple(matplotlib.rcParams["font.family"])
    return (FAMILY,) if chosen == _MATPLOTLIBS_OWN else chosen


def families(text: str) -> tuple[str, ...]:
    """The font families that a text is drawn in, in the order in which a character is looked up."""
    return *first_families(), *_further(missing(text))[0]


def missing(text: str) -> frozenset[str]:
    """The visible characters of a text that the fonts of figures lack."""
    known = frozenset().union(*map(_characters_of, first_families()))
    return frozenset(
        char for char in text if ord(char) not in known and unicodedata.category(char)[0] not in "CZ"
    )  # no controls, no spaces


def use_further_fonts(figure: Figure, name: str) -> None:
    """Give each text of a figure the fonts that its characters need, and say in one line which no font has."""
    without: set[str] = set()
    for text in figure.findobj(Text):
        if lacking := missing(text.get_text()):
            found, unknown = _further(lacking)
            text.set_fontfamily([*first_families(), *found])
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


def _characters_of(family: str) -> frozenset[int]:
    return _characters(FontPath(fontManager.findfont(FontProperties(family=family)), 0))


@cache
def _characters(path: FontPath) -> frozenset[int]:
    """The code points for which a font has glyphs."""
    return frozenset(get_font([path]).get_charmap())


def font(size: float, weight: str = "normal", style: str = "normal", text: str = "") -> FontProperties:
    """The figure's font at `size` points, with those that the characters of `text` need besides."""
    return _font(first_families(), size, weight, style, text)


@cache
def _font(first: tuple[str, ...], size: float, weight: str, style: str, text: str) -> FontProperties:
    return FontProperties(family=families(text), size=size, weight=weight, style=style)


def width(text: str, size: float, weight: str = "normal") -> float:
    """The width of one line of text in points."""
    return _width(first_families(), text, size, weight) if text else 0.0


@cache
def _width(first: tuple[str, ...], text: str, size: float, weight: str) -> float:
    with missing_glyphs_reported_once():
        return text_to_path.get_text_width_height_descent(text, font(size, weight, text=text), ismath=False)[0]


def wrap(text: str, limit: float, size: float, weight: str = "normal") -> list[str]:
    """Break text into lines of at most `limit` points: at plain spaces, else after - _ / . : and else inside a word."""
    lines, limit = [""], limit + 1e-6  # a column that was measured for a text has room for it
    for piece in _pieces(text, lambda part: width(part.strip(), size, weight) <= limit):
        if width(lines[-1] + piece, size, weight) <= limit:
            lines[-1] += piece
        else:
            lines.append(piece.lstrip())
    return [line for line in lines if line] or [""]


def _pieces(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """The parts of a text between which a line can break, each with the space before it."""
    for word in re.findall(r" *[^ ]+", text):
        if fits(word):
            yield word
            continue
        for part in re.findall(r"[^-_/.:]*[-_/.:]+|[^-_/.:]+", word):
            yield from [part] if fits(part) else part
