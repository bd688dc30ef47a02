"""Critical-difference diagram: systems by their means on one axis; bars join those that do not differ significantly.

Reads and writes nothing. After Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal
of Machine Learning Research 7, figure 1, with means instead of ranks. A dot marks each member of a bar: where pairs
have standard errors of their own, a bar may pass over a system that does differ, and is but a thin line there. Lines
of means that nearly coincide are led apart below the axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ranktrial.experiment.drawing import Typeset
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.families import (
    HIGHER,
    LOWER,
    OPEN,
    FoundFamily,
    Scope,
    Standing,
    notes,
    rank_text,
    read_family,
    where,
)
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import LEADING, MARGIN, axis_ticks
from ranktrial.reports.figures.marks import DIAMOND, INK, MUTED, rule, text, text_centred
from ranktrial.reports.figures.page import draw_title, drawn_page

PAGE, SIZE = 504.0, 7.5  # points: two columns of a journal, and the type
NAMES = 128.0  # points: the widest label of a system, before it breaks
DECIMALS = 3
BAR_PITCH = 6.5  # between two bars
GAP = 6.0
DOT = 1.7
APART = 5.0  # between two lines below the axis, at least
LED = 7.0  # the height in which lines are led apart


@dataclass(frozen=True)
class Settings(Typeset):
    """How the figure shows a multiple comparison."""

    labels: Annotated[Labels, "labels of tasks and systems that have one"]
    title: str = ""


def filled(found: FoundFamily, title: str) -> Diagram:
    """The diagram over all tasks."""
    lower = ", lower is better" if found.record.lower_is_better else ""
    axis = f"Mean {found.record.measure} {where(found)}{lower}"
    return Diagram(title, axis, found.whole, notes(found))


def draw(table: Path, record: Path, settings: Settings) -> Figure:
    """Draw the critical-difference diagram of a multiple comparison, from its table (TSV) and its record (JSON)."""
    return diagram(filled(read_family(table, record, settings.labels), settings.title))


@dataclass(frozen=True)
class Diagram:
    """What a diagram shows: one scope of a multiple comparison, its title, the axis' label and the notes below."""

    title: str
    axis: str
    scope: Scope
    notes: list[str]


@dataclass(frozen=True)
class _Axis:
    """The axis: its ends on the page and the values there, that of better means at the right."""

    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def spread(xs: list[float], apart: float, low: float = -math.inf, high: float = math.inf) -> list[float]:
    """The places from `low` to `high` nearest to ascending `xs` (least squares) that are at least `apart` apart.

    Less their share of the distance they are to ascend, so they are means of pooled neighbours (isotonic regression),
    and the bounds cut these off.
    """
    pools: list[list[float]] = []
    for place, x in enumerate(xs):
        pools.append([x - apart * place])
        while len(pools) > 1 and _mean(pools[-2]) >= _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    flat = [_mean(pool) for pool in pools for _ in pool]
    most = high - apart * (len(flat) - 1)
    return [min(max(x, low), most) + apart * place for place, x in enumerate(flat)]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def diagram(shown: Diagram) -> Figure:
    """Draw a diagram at its final size; its height follows the number of systems and bars."""
    standings = shown.scope.standings
    half = (len(standings) + 1) // 2
    right, left = range(half), range(len(standings) - 1, half - 1, -1)  # each from the outermost inwards
    members = [[standings[place] for place in side] for side in (left, right)]
    room = [max(map(_label_width, side), default=0.0) + sum(_numbers(side)) + 2 * GAP for side in members]
    means = [one.mean for one in standings]
    best, worst = means[0], means[-1]
    padding = 0.03 * ((best - worst) or 0.2)
    axis = _Axis(MARGIN + room[0], PAGE - MARGIN - room[1], worst - padding, best + padding)
    apart = min(APART, (axis.right - axis.left) / len(standings))
    lines = spread([axis.x(mean) for mean in reversed(means)], apart, axis.left, axis.right)[::-1]

    def draw(ax: Axes) -> float:
        y = _draw_axis(ax, axis, _head(ax, shown, axis))
        for mean, x in zip(means, lines, strict=True):
            ax.plot([axis.x(mean), x], [y, y + LED], color=MUTED, linewidth=0.5, zorder=1)
        first = y + LED + 0.5 * BAR_PITCH
        rows = _rows(shown.scope)
        below = first + BAR_PITCH * (max(rows, default=-1) + 0.5)
        ends = []
        for side, edge, turn in ((left, axis.left, -1), (right, axis.right, 1)):
            edge = min(edge, lines[-1] - 1) if turn < 0 else max(edge, lines[0] + 1)
            found = [(standings[place], lines[place]) for place in side]
            ends.append(_labels(ax, found, edge, turn, (y + LED, below)))
        for group, row in zip(shown.scope.groups, rows, strict=True):
            _bar(ax, lines, group, first + BAR_PITCH * row)
        return _notes(ax, shown, max(ends) + 0.4 * SIZE) + MARGIN

    return drawn_page(PAGE, draw)


def _numbers(sides: Iterable[Standing]) -> tuple[float, float, float]:
    """The widths of the columns beside the names: of means, and of letters and ranks where all pairs are compared."""
    here = list(sides)
    means = max((width(form.fixed(one.mean, DECIMALS), SIZE) for one in here), default=0.0)
    return means, *(_column([shown(one) for one in here]) for shown in (_letters, rank_text))


def _column(texts: list[str]) -> float:
    return max((width(text, SIZE) + 3 for text in texts if text), default=0.0)


def _letters(one: Standing) -> str:
    return "" if one.is_control or one.sign in (HIGHER, LOWER, OPEN) else one.sign


def _label_width(one: Standing) -> float:
    name = max(width(part, SIZE, _weight(one)) for part in wrap(one.system, NAMES, SIZE, _weight(one)))
    return name + GAP


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
    y = draw_title(ax, shown.title, PAGE, SIZE, 1.3, MARGIN)
    difference = shown.scope.critical_difference
    if difference is not None:
        end = axis.left + difference / abs(axis.high - axis.low) * (axis.right - axis.left)
        label = f"critical difference {form.fixed(difference, DECIMALS)}"
        y += 0.8 * SIZE
        if end + 4 + width(label, SIZE) <= PAGE - MARGIN:
            rule(ax, axis.left, end, y, 1.0)
            for x in (axis.left, end):
                ax.plot([x, x], [y - 2.5, y + 2.5], color=INK, linewidth=1.0, solid_capstyle="butt")
            text(ax, end + 4, y, label, SIZE)
        else:
            text(ax, (axis.left + axis.right) / 2, y, f"{label}, beyond the axis", SIZE, ha="center")
        y += 0.8 * SIZE
    middle = (axis.left + axis.right) / 2
    for line in wrap(shown.axis, PAGE - 2 * MARGIN, SIZE):
        half = width(line, SIZE) / 2
        centre = min(max(middle, MARGIN + half), PAGE - MARGIN - half)
        text(ax, centre, y + 0.7 * SIZE, line, SIZE, ha="center")
        y += LEADING * SIZE
    return y + 0.3 * SIZE


def _draw_axis(ax: Axes, axis: _Axis, y: float) -> float:
    """Draw the axis with its ticks above it; return where it lies."""
    line = y + 1.2 * SIZE + 4.0
    rule(ax, axis.left, axis.right, line, 0.8)
    ends = (min(axis.low, axis.high), max(axis.low, axis.high))
    for value, label in axis_ticks(ends, axis.right - axis.left, SIZE, 0):
        x = axis.x(value)
        ax.plot([x, x], [line - 3.0, line], color=INK, linewidth=0.6, solid_capstyle="butt")
        text(ax, x, line - 4.0 - 0.6 * SIZE, label, SIZE, ha="center")
    return line


def _labels(
    ax: Axes, side: list[tuple[Standing, float]], edge: float, turn: int, heights: tuple[float, float]
) -> float:
    """One side's systems, the outermost first, each with its line led down and out to its label; where they end.

    `edge` is where the lines leave the axis, to the left (`turn` -1) or right (1); `heights` are where the lines begin
    and where the labels do.
    """
    align, (start, y) = "left" if turn > 0 else "right", heights
    means, signs, ranks = _numbers(one for one, _ in side)
    for one, x in side:
        parts = wrap(one.system, NAMES, SIZE, _weight(one))
        height = 1.35 * SIZE + (len(parts) - 1) * LEADING * SIZE
        middle, end = y + height / 2, edge + turn * GAP
        ax.plot([x, x, end], [start, middle, middle], color=MUTED, linewidth=0.5, solid_joinstyle="miter", zorder=1)
        begin = end + turn * 3
        text(ax, begin, middle, form.fixed(one.mean, DECIMALS), SIZE, ha=align, color=MUTED)
        text(ax, begin + turn * (means + 3), middle, _letters(one), SIZE, ha=align, color=MUTED)
        text(ax, begin + turn * (means + signs + 3), middle, rank_text(one), SIZE, ha=align, color=MUTED)
        begin += turn * (means + signs + ranks + GAP)
        text_centred(ax, begin, middle, parts, SIZE, LEADING * SIZE, ha=align, weight=_weight(one))
        y += height
    return y


def _bar(ax: Axes, lines: list[float], group: tuple[int, ...], y: float) -> None:
    """A bar over a group's lines, a dot for each member, and a thin line over systems that do not belong to it."""
    for place, following in pairwise(group):
        thick = 2.6 if following == place + 1 else 0.8
        ax.plot([lines[place], lines[following]], [y, y], color=DIAMOND, linewidth=thick, zorder=2)
    xs = [lines[place] for place in group]
    ax.plot(xs, [y] * len(xs), color=DIAMOND, marker="o", markersize=2 * DOT, linestyle="none",
            markeredgecolor="white", markeredgewidth=0.5, zorder=3)  # fmt: skip


def _notes(ax: Axes, shown: Diagram, y: float) -> float:
    """Draw the notes at the foot; return where they end."""
    y += SIZE
    for note in shown.notes:
        for line in wrap(note, 0.98 * (PAGE - 2 * MARGIN), SIZE - 0.5):  # hinted type is a little wider on a screen
            text(ax, MARGIN, y, line, SIZE - 0.5)
            y += LEADING * (SIZE - 0.5)
    return y - 0.4 * SIZE
