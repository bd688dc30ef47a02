"""The marks of a forest plot, drawn in points with y downwards: text, rules, squares, whiskers, diamonds and bars.

Reads and writes nothing. Colours differ in lightness as well as in hue, so that the figure reads in grey and for
colour-blind readers; nothing is shown by colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Polygon, Rectangle

from ranktrial.reports.comparison.plot_text import Line
from ranktrial.reports.figures.fonts import font, width
from ranktrial.reports.figures.forest_layout import LEADING, MARGIN, Layout, whole_part

INK, MUTED, FAINT = "#1a1a1a", "#6b6b6b", "#b5b5b5"
SQUARE, DIAMOND, BAR, BAND = "#8fb3d3", "#1b4f82", "#c9d9e8", "#f3ead7"
DIAMONDS = {  # kind of line -> face, edge and name of its diamond
    "summary": (DIAMOND, "none", "diamond"),
    "subtotal": ("white", DIAMOND, "subtotal"),
    "mean": ("white", DIAMOND, "mean"),
    "fixed": ("white", MUTED, "fixed"),
    "posterior": (SQUARE, DIAMOND, "posterior"),
}
_CAP_HEIGHT = 0.365  # half the height of a capital, in font sizes: what centres a line of text


def text(
    ax: Axes,
    x: float,
    y: float,
    label: str,
    size: float,
    ha: str = "left",
    weight: str = "normal",
    style: str = "normal",
    color: str = INK,
    zorder: float = 3,
) -> None:
    """One line of text whose capitals are centred at y; nothing in it is taken for mathematics."""
    properties, label = font(size, weight, style), label.replace("\N{NO-BREAK SPACE}", " ")
    y += _CAP_HEIGHT * size
    ax.text(x, y, label, ha=ha, va="baseline", font=properties, color=color, parse_math=False, zorder=zorder)


def text_down(ax: Axes, x: float, y: float, lines: Iterable[str], size: float, step: float, **looks: Any) -> float:
    """Lines of text from y downwards, `step` apart; returns where the next one would be."""
    for line in lines:
        text(ax, x, y, line, size, **looks)
        y += step
    return y


def text_centred(ax: Axes, x: float, y: float, lines: Sequence[str], size: float, step: float, **looks: Any) -> None:
    """Lines of text, `step` apart, whose middle is at y."""
    for position, line in enumerate(lines):
        text(ax, x, y + (position - (len(lines) - 1) / 2) * step, line, size, **looks)


def rule(ax: Axes, left: float, right: float, y: float, thickness: float, color: str = INK) -> None:
    """A horizontal rule."""
    ax.plot([left, right], [y, y], color=color, linewidth=thickness, solid_capstyle="butt")


def draw_reference(
    ax: Axes, place: Layout, lines: list[Line], margin: float | None = None, down_to_summary: bool = True
) -> None:
    """A group's line of no effect, the margin as a band and, down to its diamond, the line of its summary effect."""
    top, bottom = lines[0].y - place.height(lines[0]) / 2, lines[-1].y + place.height(lines[-1]) / 2
    if margin is not None:
        left, right = max(place.x(-margin), place.left), min(place.x(margin), place.right)
        band = Rectangle((left, top), right - left, bottom - top, facecolor=BAND, edgecolor="none", zorder=0.5)
        band.set_gid("margin")
        ax.add_patch(band)
    if place.holds(0):
        ax.plot([place.x(0)] * 2, [top, bottom], color=MUTED, linewidth=0.6, zorder=1)
    for line in lines:
        if down_to_summary and line.kind == "summary" and place.holds(line.effect):
            x = place.x(line.effect)
            ax.plot([x, x], [top, line.y], color=DIAMOND, linewidth=0.5, linestyle=(0, (1, 2)), zorder=1)


def draw_line(ax: Axes, place: Layout, line: Line, number: int, most: float) -> None:
    """One line: its label, its cells and its mark; `most` is the largest weight, whose square fills the line."""
    size = place.size
    label = [(part, INK) for part in line.text] + ([(line.below_label, MUTED)] if line.below_label else [])
    for position, (part, color) in enumerate(label):
        y = line.y + (position - (len(label) - 1) / 2) * LEADING * size
        text(ax, MARGIN, y, part, size, weight=line.bold if color == INK else "normal", color=color)
    for name, pieces in line.cells.items():
        if column := place.columns.get(name):
            y = line.y - (LEADING * size / 2 if line.below_effect else 0)
            for piece, point in zip(pieces, column.points, strict=True):
                fraction = width(piece, size) - width(whole_part(piece), size)
                text(ax, column.left + point + fraction, y, piece, size, ha="right")
    if line.below_effect:
        column = place.columns["effect"]
        text(
            ax,
            column.left + column.width,
            line.y + LEADING * size / 2,
            line.below_effect,
            size,
            ha="right",
            color=MUTED,
        )
    if line.kind == "task":
        _task(ax, place, line, number, most)
    elif line.kind in DIAMONDS:
        if line.beyond:
            _prediction(ax, place, replace(line, low=line.beyond[0], high=line.beyond[1]), number)
        _diamond(ax, place, line, number)
    elif line.kind == "prediction":
        _prediction(ax, place, line, number)
    for position, part in enumerate(line.reason_text):
        y = line.y + (position - (len(line.reason_text) - 1) / 2) * LEADING * size
        corner, height = (place.left - 2, y - LEADING * size / 2), LEADING * size
        blank = Rectangle(corner, width(part, size) + 4, height, facecolor="white", edgecolor="none", zorder=1.5)
        ax.add_patch(blank)  # the reference lines do not run through the words
        text(ax, place.left, y, part, size, style="italic", color=MUTED)


def _task(ax: Axes, place: Layout, line: Line, number: int, most: float) -> None:
    """A square with its area in proportion to the weight, and over it the interval, which so is never hidden.

    A weight below 0, which tasks that depend on one another may have, has no area.
    """
    side = min(0.8 * place.pitch, 1.3 * place.size) * math.sqrt(max(line.weight, 0.0) / most)
    if place.holds(line.effect):
        x = place.x(line.effect)
        corner = (x - side / 2, line.y - side / 2)
        square = Rectangle(corner, side, side, facecolor=SQUARE, edgecolor="none", zorder=2, gid=f"square-{number}")
        ax.add_patch(square)
        ax.plot([x, x], [line.y - 1.6, line.y + 1.6], color=INK, linewidth=1.0, solid_capstyle="butt")
    low, high = _ends(place, line)
    rule(ax, low, high, line.y, 0.8)
    _arrows(ax, place, line, INK)


def _diamond(ax: Axes, place: Layout, line: Line, number: int) -> None:
    """A summary effect: its left and right ends are its interval's, its corners in the middle lie at the effect.

    Where limits that were asked for cut it, its sides end there, and an arrowhead says so.
    """
    low, middle, high = (place.x(value) for value in (line.low, line.effect, line.high))
    left, right = _ends(place, line)
    if low > place.right or high < place.left:  # it lies beyond the axis as a whole
        return _arrows(ax, place, line, DIAMOND)
    outline = [left, *([middle] if left < middle < right else []), right]
    heights = [0.4 * place.size * _height(x, low, middle, high) for x in outline]
    points = [(x, line.y - y) for x, y in zip(outline, heights, strict=True)]
    points += [(x, line.y + y) for x, y in reversed(list(zip(outline, heights, strict=True))) if y]
    face, edge, gid = DIAMONDS[line.kind]
    ax.add_patch(Polygon(points, facecolor=face, edgecolor=edge, linewidth=0.7, zorder=3, gid=f"{gid}-{number}"))
    _arrows(ax, place, line, DIAMOND)


def _height(x: float, low: float, middle: float, high: float) -> float:
    """The height of a diamond at x, from 0 at its ends to 1 at its middle."""
    if x == middle:
        return 1.0
    return (x - low) / (middle - low) if x < middle else (high - x) / (high - middle)


def _prediction(ax: Axes, place: Layout, line: Line, number: int) -> None:
    """The prediction interval: a pale bar with dark ends."""
    low, high = _ends(place, line)
    bar = Rectangle((low, line.y - 1.5), high - low, 3, facecolor=BAR, edgecolor=DIAMOND, linewidth=0.5, zorder=2)
    bar.set_gid(f"prediction-{number}")
    ax.add_patch(bar)
    _arrows(ax, place, line, DIAMOND)


def _ends(place: Layout, line: Line) -> tuple[float, float]:
    """An interval on the page, cut where the axis ends."""
    low, high = (min(max(place.x(value), place.left), place.right) for value in (line.low, line.high))
    return low, high


def _arrows(ax: Axes, place: Layout, line: Line, color: str) -> None:
    """A filled arrowhead wherever the axis cuts the interval."""
    for cut, x, direction in (
        (place.x(line.low) < place.left, place.left, 1),
        (place.x(line.high) > place.right, place.right, -1),
    ):
        if cut:
            points = [(x, line.y), (x + direction * 4, line.y - 2.2), (x + direction * 4, line.y + 2.2)]
            ax.add_patch(Polygon(points, facecolor=color, edgecolor="none", zorder=4, gid="arrow"))
