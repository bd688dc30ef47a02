"""Critical-difference diagram: systems by their means on one axis, and bars that join those that are not told apart.

Reads and writes nothing. After Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal
of Machine Learning Research 7, figure 1, with means instead of ranks. A dot marks each member of a bar: where pairs
have standard errors of their own, a bar may pass over a system that is told apart, and is then interrupted there.
"""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.families import Scope, Standing
from scripts.reports.figures.forest import STYLE
from scripts.reports.figures.forest_layout import LEADING, MARGIN, axis_ticks
from scripts.reports.figures.marks import DIAMOND, INK, MUTED, rule, text
from scripts.reports.figures.measured_text import width, wrap

PAGE, SIZE = 504.0, 7.5  # points: two columns of a journal, and the type
NAMES = 128.0  # points: the widest label of a system, before it breaks
DECIMALS = 3
BAR_PITCH = 6.5  # between two bars
GAP = 6.0
DOT = 1.7


@dataclass(frozen=True)
class Diagram:
    """What a diagram shows: one scope of a multiple comparison, its title, the axis' label and the notes below."""

    title: str
    axis: str
    scope: Scope
    notes: list[str]


@dataclass(frozen=True)
class _Axis:
    """The axis: its ends on the page and the values there."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def diagram(shown: Diagram) -> Figure:
    """Draw a diagram at its final size; its height follows the number of systems and bars."""
    standings = shown.scope.standings
    half = (len(standings) + 1) // 2
    right, left = standings[:half], tuple(reversed(standings[half:]))  # each from the outermost inwards
    numbers = width(form.fixed(-0.5, DECIMALS), SIZE) + GAP
    room = [max((_label_width(one) for one in side), default=0.0) + numbers + 2 * GAP for side in (left, right)]
    means = [one.mean for one in standings]
    padding = 0.03 * ((max(means) - min(means)) or 0.2)
    axis = _Axis(MARGIN + room[0], PAGE - MARGIN - room[1], min(means) - padding, max(means) + padding)
    with matplotlib.rc_context(STYLE):
        figure = Figure()
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
        ax.set_axis_off()
        y = _draw_axis(ax, shown, axis, _head(ax, shown, axis))
        rows = _rows(shown.scope)
        below = y + 0.9 * BAR_PITCH + BAR_PITCH * max(rows, default=-1) + BAR_PITCH
        ends = [_labels(ax, axis, side, y, below, on_right) for side, on_right in ((left, False), (right, True))]
        for group, row in zip(shown.scope.groups, rows, strict=True):
            _bar(ax, axis, standings, group, y + 0.9 * BAR_PITCH + BAR_PITCH * row)
        height = _notes(ax, shown, max(ends) + 0.4 * SIZE) + MARGIN
        ax.set(xlim=(0, PAGE), ylim=(height, 0))
        figure.set_size_inches(PAGE / 72, height / 72)
    return figure


def _label_width(one: Standing) -> float:
    return max(width(part, SIZE, _weight(one)) for part in wrap(one.system, NAMES, SIZE, _weight(one)))


def _weight(one: Standing) -> str:
    return "bold" if one.is_control else "normal"


def _rows(scope: Scope) -> list[int]:
    """The row of each bar, the first in which it overlaps no other."""
    rows: list[list[tuple[int, ...]]] = []
    places = []
    for group in scope.groups:
        free = [row for row, others in enumerate(rows) if all(min(group) > max(other) for other in others)]
        place = free[0] if free else len(rows)
        rows[place:] = [*rows[place:], []] if place == len(rows) else rows[place:]
        rows[place].append(group)
        places.append(place)
    return places


def _head(ax: Axes, shown: Diagram, axis: _Axis) -> float:
    """Draw the title, the critical difference and the axis' label; return where the tick labels begin."""
    y = MARGIN
    for line in wrap(shown.title, PAGE - 2 * MARGIN, SIZE + 1, "bold") if shown.title else []:
        text(ax, MARGIN, y + 0.7 * SIZE, line, SIZE + 1, weight="bold")
        y += 1.3 * (SIZE + 1)
    difference = shown.scope.critical_difference
    if difference is not None:
        start, end = axis.left, axis.left + difference / (axis.high - axis.low) * (axis.right - axis.left)
        y += 0.8 * SIZE
        label = f"critical difference {form.fixed(difference, DECIMALS)}"
        if end <= PAGE - MARGIN:
            rule(ax, start, end, y, 1.0)
            for x in (start, end):
                ax.plot([x, x], [y - 2.5, y + 2.5], color=INK, linewidth=1.0, solid_capstyle="butt")
        beside = end + 4 + width(label, SIZE) <= PAGE - MARGIN
        text(ax, end + 4 if beside else start, y if beside else y + LEADING * SIZE, label, SIZE)
        y += (0.8 if beside else 0.8 + LEADING) * SIZE
    middle = (axis.left + axis.right) / 2
    for line in wrap(shown.axis, PAGE - 2 * MARGIN, SIZE):
        half = width(line, SIZE) / 2
        centre = min(max(middle, MARGIN + half), PAGE - MARGIN - half)
        text(ax, centre, y + 0.7 * SIZE, line, SIZE, ha="center")
        y += LEADING * SIZE
    return y + 0.3 * SIZE


def _draw_axis(ax: Axes, shown: Diagram, axis: _Axis, y: float) -> float:
    """Draw the axis with its ticks above it; return where it lies."""
    line = y + 1.2 * SIZE + 4.0
    rule(ax, axis.left, axis.right, line, 0.8)
    for value, label in axis_ticks((axis.low, axis.high), axis.right - axis.left, SIZE, 0):
        x = axis.x(value)
        ax.plot([x, x], [line - 3.0, line], color=INK, linewidth=0.6, solid_capstyle="butt")
        text(ax, x, line - 4.0 - 0.6 * SIZE, label, SIZE, ha="center")
    return line


def _labels(ax: Axes, axis: _Axis, side: tuple[Standing, ...], line: float, top: float, on_right: bool) -> float:
    """One side's systems, the outermost first, each led down from its mean and out to its label; where they end."""
    edge, turn, align = (axis.right, 1, "left") if on_right else (axis.left, -1, "right")
    y = top
    for one in side:
        parts = wrap(one.system, NAMES, SIZE, _weight(one))
        height = 1.35 * SIZE + (len(parts) - 1) * LEADING * SIZE
        middle, x = y + height / 2, axis.x(one.mean)
        end = edge + turn * GAP
        ax.plot([x, x, end], [line, middle, middle], color=MUTED, linewidth=0.5, solid_joinstyle="miter", zorder=1)
        number = form.fixed(one.mean, DECIMALS)
        text(ax, end + turn * 3, middle, number, SIZE, ha=align, color=MUTED)
        begin = end + turn * (3 + GAP + width(form.fixed(0.5, DECIMALS), SIZE))
        for position, part in enumerate(parts):
            at = middle + (position - (len(parts) - 1) / 2) * LEADING * SIZE
            text(ax, begin, at, part, SIZE, ha=align, weight=_weight(one))
        y += height
    return y


def _bar(ax: Axes, axis: _Axis, standings: tuple[Standing, ...], group: tuple[int, ...], y: float) -> None:
    """A bar over a group's means, a dot for each member, interrupted at a system that does not belong to it."""
    xs = [axis.x(standings[place].mean) for place in group]
    ends = [min(xs) - 1.5, max(xs) + 1.5]
    ax.plot(ends, [y, y], color=DIAMOND, linewidth=2.6, solid_capstyle="butt", zorder=2)
    for place in set(range(min(group), max(group))) - set(group):
        x = axis.x(standings[place].mean)
        ax.plot([x - 1.8, x + 1.8], [y, y], color="white", linewidth=3.2, solid_capstyle="butt", zorder=2.5)
        ax.plot([x, x], [y - 2.5, y + 2.5], color=MUTED, linewidth=0.5, zorder=2.6)
    ax.plot(xs, [y] * len(xs), color=DIAMOND, marker="o", markersize=2 * DOT, linestyle="none",
            markeredgecolor="white", markeredgewidth=0.5, zorder=3)  # fmt: skip


def _notes(ax: Axes, shown: Diagram, y: float) -> float:
    """Draw the notes at the foot; return where they end."""
    y += SIZE
    for note in shown.notes:
        for line in wrap(note, PAGE - 2 * MARGIN, SIZE - 0.5):
            text(ax, MARGIN, y, line, SIZE - 0.5)
            y += LEADING * (SIZE - 0.5)
    return y - 0.4 * SIZE
