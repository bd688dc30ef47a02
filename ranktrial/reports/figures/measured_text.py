"""Measured text for figures drawn in points: widths from the font's own outlines, and line breaks that fit.

Reads and writes nothing. The outlines are those that SVG and PDF viewers draw, so a column that fits here fits there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from ranktrial.reports.figures.fonts import families, first_families, missing_glyphs_reported_once


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
