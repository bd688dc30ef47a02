"""Figures drawn in points: their page with title and notes, where values lie, and axes with ticks.

Reads nothing; `save` writes a figure as SVG, PDF and PNG, the same figure always in the same bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from ranktrial.common.files import atomic_path
from ranktrial.reports.figures.fonts import font, missing_glyphs_reported_once, use_further_fonts, width, wrap
from ranktrial.reports.figures.forest_layout import MARGIN, axis_ticks
from ranktrial.reports.figures.marks import INK, rule, text, text_down

UNDATED = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}  # the metadata of each format
STYLE = {
    "text.usetex": False,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "ranktrial",  # the same figure is the same bytes
    "pdf.fonttype": 42,  # TrueType, embedded
    "pdf.compression": 6,
}
PAGE, SIZE = 504.0, 7.0  # points: two columns of a journal, and the type
LEADING = 1.25  # between lines of text, in font sizes
TICK = 2.5  # points


def drawn_page(width_in_points: float, draw: Callable[[Axes], float]) -> Figure:
    """A page drawn in points with y downwards, as high as it needs: `draw` gives its height."""
    with matplotlib.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        height = draw(ax)
        ax.set(xlim=(0, width_in_points), ylim=(height, 0))
        figure.set_size_inches(width_in_points / 72, height / 72)
    return figure


@contextmanager
def sized_page(width_in_points: float, height: float) -> Iterator[Figure]:
    """A page of this size in points, on which axes are placed; what they write by themselves has the type of texts."""
    with matplotlib.rc_context(STYLE | {"font.family": font(SIZE).get_family(), "font.size": SIZE}):
        figure = Figure(figsize=(width_in_points / 72, height / 72))
        FigureCanvasAgg(figure)
        yield figure


def save(figure: Figure, *paths: Path) -> None:
    """Write the figure in the formats of the paths (PNG: 300 dpi), each whole or not at all and without a date."""
    use_further_fonts(figure, paths[0].stem)
    with matplotlib.rc_context(STYLE), missing_glyphs_reported_once():
        for path in paths:
            with atomic_path(path) as temporary:
                figure.savefig(temporary, dpi=300, metadata=UNDATED[path.suffix])


def as_svg(figure: Figure, name: str) -> str:
    """A figure as SVG, as `save` would write it."""
    use_further_fonts(figure, name)
    file = io.StringIO()
    with matplotlib.rc_context(STYLE), missing_glyphs_reported_once():
        figure.savefig(file, format="svg", metadata=UNDATED[".svg"])
    return file.getvalue()


def draw_title(ax: Axes, title: str, page: float, size: float, leading: float, y: float) -> float:
    """Draw a title, if there is one, in the lines that it needs; return where they end."""
    for line in wrap(title, page - 2 * MARGIN, size + 1, "bold") if title else []:
        text(ax, MARGIN, y + 0.7 * size, line, size + 1, weight="bold")
        y += leading * (size + 1)
    return y


def draw_notes(ax: Axes, notes: Sequence[str], page: float, size: float, leading: float, y: float) -> float:
    """Draw notes at the foot of a page; return where they end."""
    lines = [line for note in notes for line in wrap(note, page - 2 * MARGIN, size)]
    return text_down(ax, MARGIN, y, lines, size, leading * size) - 0.6 * size


def titled_page(title: str, draw: Callable[[Axes, float], float]) -> Figure:
    """A page below its title (if any), as high as it needs: `draw` begins at a given y and gives the y at its end."""
    return drawn_page(PAGE, lambda ax: draw(ax, draw_title(ax, title, PAGE, SIZE, LEADING, MARGIN) + 4) + MARGIN)


@dataclass(frozen=True)
class Scale:
    """Values from `limits` on the page from `start` to `end`, in points; an axis upwards has its end above its start.

    `power` below 1 spreads small values, which then are not below 0: at 1/2 it is a square-root axis.
    """

    start: float
    end: float
    limits: tuple[float, float]
    power: float = 1.0

    def at(self, value: float) -> float:
        """The place of a value, or the edge if it is outside the limits."""
        low, high = self.limits
        share = (min(max(value, low), high) - low) / (high - low)
        return self.start + share**self.power * (self.end - self.start)


def limits_of(
    values: Iterable[float], always: tuple[float, ...] = (0.0,), padding: float = 0.05
) -> tuple[float, float]:
    """Limits that include all values with some room, and the values `always`."""
    held = [*values, *always]
    low, high = min(held), max(held)
    room = padding * ((high - low) or 2.0)
    return (low if low == 0 and 0 in always else low - room), high + room


def axis_below(ax: Axes, scale: Scale, y: float, size: float, title: str, exponent: int = 0) -> float:
    """Draw a horizontal axis with its title below; return where it ends."""
    rule(ax, scale.start, scale.end, y, 0.6)
    after = -math.inf
    for value, label in axis_ticks(scale.limits, scale.end - scale.start, size, exponent):
        x, half = scale.at(value), width(label, size) / 2
        if x - half < after:  # a square-root axis sets its last ticks close
            continue
        after = x + half + 0.6 * size
        ax.plot([x, x], [y, y + TICK], color=INK, linewidth=0.6, solid_capstyle="butt")
        text(ax, x, y + TICK + 1 + 0.6 * size, label, size, ha="center")
    y += TICK + 1 + 2 * size
    lines = wrap(title, scale.end - scale.start + 2 * size, size)
    return text_down(ax, (scale.start + scale.end) / 2, y, lines, size, LEADING * size, ha="center")


def axis_left(ax: Axes, scale: Scale, x: float, size: float) -> None:
    """Draw a vertical axis, its labels to the left of it."""
    ax.plot([x, x], [scale.start, scale.end], color=INK, linewidth=0.6, solid_capstyle="butt")
    after = math.inf
    for value, label in ticks_left(scale, size):
        y = scale.at(value)
        if y > after:
            continue
        after = y - 1.3 * size
        ax.plot([x - TICK, x], [y, y], color=INK, linewidth=0.6, solid_capstyle="butt")
        text(ax, x - TICK - 1.5, y, label, size, ha="right")


def ticks_left(scale: Scale, size: float) -> list[tuple[float, str]]:
    """The ticks of a vertical axis, whose labels need less room than those side by side."""
    return axis_ticks(scale.limits, 2.4 * abs(scale.end - scale.start), size, 0)


def label_width(scale: Scale, size: float) -> float:
    """The room that the labels of a vertical axis take."""
    return max(width(label, size) for _, label in ticks_left(scale, size)) + TICK + 1.5
