"""Curves over the number of training queries, one panel per target, and of the training loss over the steps.

Reads and writes nothing. Drawn in points. Curves over training queries show means, and bars of the range over samples.
The axis of queries is logarithmic; the starting point itself, 0 queries, is left of a gap in the axis. Curves differ in
colour (Okabe and Ito's, apart for colour-blind readers) and in their markers, and are shifted a little so that no bar
hides another. Training losses have a panel per model and recipe, a line per seed.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Annotated

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.curves import CurvesRecord
from ranktrial.reports.figures.fonts import width
from ranktrial.reports.figures.forest_layout import MARGIN
from ranktrial.reports.figures.marks import INK, MUTED, rule, text
from ranktrial.reports.figures.page import (
    LEADING,
    PAGE,
    SIZE,
    STYLE,
    TICK,
    Scale,
    axis_left,
    draw_notes,
    label_width,
    limits_of,
    ticks_left,
    titled_page,
)
from ranktrial.reports.transfer_studies import Curves, all_queries, curve_notes, ends

LOOKS = [("#1a1a1a", "o"), ("#0072b2", "s"), ("#d55e00", "^"), ("#009e73", "D"), ("#cc79a7", "v"), ("#e69f00", "P"),
         ("#56b4e9", "X")]  # fmt: skip
DASHES, DOTS = (0, (4, 2)), (0, (1, 1.6))
HEIGHTS = (190.0, 128.0)  # of a panel: alone, and among others
GAP = 18.0  # between two panels
ZERO = 22.0  # from the place of 0 queries to the least number on the axis
STEP = 2.6  # at most between two curves at one number of queries
MARKER = 3.8
KEY = 20.0  # the width of a curve's sign in the key


@dataclass(frozen=True)
class Settings(Typeset):
    """The targets and labels that the figure shows."""

    names: Annotated[Curves, "labels, title and what the bars are"]
    shown: Annotated[list[str], "targets, one panel each"]


def filled(record: CurvesRecord, names: Curves, shown: list[str]) -> CurvesPlot:
    """The figure of some of the targets; a single panel without a title of its own has none."""
    panels = []
    for target in shown:
        curves: dict[str, list[Spot]] = {}
        for point in record.points:
            if point.target == target:
                spot = Spot(point.size, point.mean, *ends(point, names.interval))
                curves.setdefault(point.start, []).append(spot)
        ordered = {start: curves[start] for start in names.starts if start in curves}
        mean = record.baseline[target].mean
        panels.append(Panel(names.targets[target], ordered, mean, all_queries(record, target)))
    return CurvesPlot(
        names.title, record.measure, tuple(panels), names.starts, names.baseline, curve_notes(record, names)
    )


def draw(record: Path, settings: Settings) -> Figure:
    """Draw curves (curves/{curve}.json) over the number of training queries: one target, or all of them as panels."""
    return curves_plot(filled(read_record(CurvesRecord, record), settings.names, settings.shown))


@dataclass(frozen=True)
class Spot:
    """A point of a curve; `low` and `high` are the ends of its bar, None without one. 0 queries: the starting point."""

    queries: int
    mean: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Panel:
    """One target: its curves by starting point, the mean of a baseline, and how many queries `all` are, if known."""

    label: str
    curves: dict[str, list[Spot]]
    baseline: float | None = None
    all_queries: int | None = None


@dataclass(frozen=True)
class CurvesPlot:
    """What the figure shows; `starts` are the labels of all starting points, whose place chooses colour and marker."""

    title: str
    measure: str
    panels: tuple[Panel, ...]
    starts: dict[str, str]
    baseline: str
    notes: tuple[str, ...]


def curves_plot(plot: CurvesPlot) -> Figure:
    """Draw the panels, one as wide as the page or two beside one another; the height follows their number."""
    return titled_page(plot.title, lambda ax, y: _page(ax, plot, y))


def _page(ax: Axes, plot: CurvesPlot, top: float) -> float:
    y = _key(ax, plot, top) + 6
    columns = 1 if len(plot.panels) == 1 else 2
    wide = (PAGE - 2 * MARGIN - (columns - 1) * GAP) / columns
    for number in range(0, len(plot.panels), columns):
        row = plot.panels[number : number + columns]
        ends = [_panel(ax, plot, panel, MARGIN + n * (wide + GAP), wide, y) for n, panel in enumerate(row)]
        y = max(ends) + GAP / 2
    y += 0.2 * SIZE
    return draw_notes(ax, plot.notes, PAGE, SIZE, LEADING, y)


def _key(ax: Axes, plot: CurvesPlot, top: float) -> float:
    """Draw the key of all curves that the panels have, and of the baseline; return where it ends."""
    drawn = [start for start in plot.starts if any(start in panel.curves for panel in plot.panels)]
    x, y = MARGIN, top + 0.8 * SIZE
    baseline = [(None, plot.baseline)] if plot.baseline else []
    for start, label in [*((start, plot.starts[start]) for start in drawn), *baseline]:
        needed = KEY + 3 + width(label, SIZE) + 12
        if x > MARGIN and x + needed > PAGE - MARGIN:
            x, y = MARGIN, y + 1.5 * SIZE
        if start is None:
            ax.plot([x, x + KEY], [y, y], color=INK, linewidth=0.8, linestyle=DASHES)
        else:
            colour, marker, face = _look(plot, start)
            ax.plot([x, x + KEY], [y, y], color=colour, linewidth=1.1)
            _mark(ax, [x + KEY / 2], [y], colour, marker, face)
        text(ax, x + KEY + 3, y, label, SIZE)
        x += needed
    return y + 0.8 * SIZE


def _look(plot: CurvesPlot, start: str) -> tuple[str, str, str]:
    """Colour, marker and its face; more curves than colours have hollow markers."""
    place = list(plot.starts).index(start)
    colour, marker = LOOKS[place % len(LOOKS)]
    return colour, marker, colour if place < len(LOOKS) else "white"


def _mark(
    ax: Axes, x: list[float], y: list[float], colour: str, marker: str, face: str, gid: str | None = None
) -> None:
    ax.plot(x, y, linestyle="none", marker=marker, markersize=MARKER, color=colour, markerfacecolor=face,
            markeredgewidth=0.6, zorder=4, gid=gid)  # fmt: skip


def _panel(ax: Axes, plot: CurvesPlot, panel: Panel, left: float, wide: float, top: float) -> float:
    """One target: its name, both axes, the baseline and the curves; return where it ends."""
    high = HEIGHTS[0] if len(plot.panels) == 1 else HEIGHTS[1]
    text(ax, left, top + 0.6 * SIZE, panel.label, SIZE, weight="bold")
    text(ax, left, top + (0.6 + 1.5) * SIZE, plot.measure, SIZE, color=MUTED)
    top += 3.2 * SIZE
    values = [end for curve in panel.curves.values() for spot in curve for end in (spot.low, spot.mean, spot.high)]
    held = [value for value in values if value is not None]
    upwards = Scale(top + high, top, limits_of(held, () if panel.baseline is None else (panel.baseline,), 0.06))
    sizes = sorted({spot.queries for curve in panel.curves.values() for spot in curve if spot.queries})
    has_zero = any(spot.queries == 0 for curve in panel.curves.values() for spot in curve)
    start = left + label_width(upwards, SIZE) + 4
    spread = STEP * (len(panel.curves) - 1) / 2 + MARKER
    first = start + spread + (ZERO + spread if has_zero else 0.0)
    across = Scale(first, left + wide - spread - 2, (math.log(sizes[0]), math.log(sizes[-1] * (1 + (len(sizes) == 1)))))
    places = {size: across.at(math.log(size)) for size in sizes} | ({0: start + spread} if has_zero else {})
    for value, _ in ticks_left(upwards, SIZE):
        rule(ax, start, left + wide, upwards.at(value), 0.4, "#e4e4e4")
    axis_left(ax, upwards, start, SIZE)
    bottom = top + high
    if panel.baseline is not None:
        level = upwards.at(panel.baseline)
        ends = [start, left + wide]
        ax.plot(ends, [level, level], color=INK, linewidth=0.8, linestyle=DASHES, zorder=2, gid="baseline")
    room = min((b - a for a, b in itertools.pairwise(sorted(places.values()))), default=wide)
    step = min(STEP, 0.6 * room / max(len(panel.curves), 1))
    for number, (name, curve) in enumerate(panel.curves.items()):
        offset = (number - (len(panel.curves) - 1) / 2) * step
        _curve(ax, plot, name, curve, {size: x + offset for size, x in places.items()}, upwards)
    return _axis(ax, panel, places, (start, left + wide), bottom, has_zero)


def _curve(ax: Axes, plot: CurvesPlot, start: str, curve: list[Spot], places: dict[int, float], upwards: Scale) -> None:
    """The bars, the markers and the line through them, dotted from the starting point over the gap."""
    colour, marker, face = _look(plot, start)
    spots = sorted(curve, key=lambda spot: spot.queries)
    points = [(places[spot.queries], upwards.at(spot.mean)) for spot in spots]
    for spot in spots:
        if spot.low is not None and spot.high is not None and spot.low < spot.high:
            x = places[spot.queries]
            ends = [upwards.at(spot.low), upwards.at(spot.high)]
            ax.plot([x, x], ends, color=colour, linewidth=0.9, solid_capstyle="butt", zorder=3, gid="bar")
    trained = [point for spot, point in zip(spots, points, strict=True) if spot.queries]
    ax.plot(*zip(*trained, strict=True), color=colour, linewidth=1.1, zorder=3, gid=f"curve-{start}")
    if len(trained) < len(points):
        ax.plot(*zip(points[0], trained[0], strict=True), color=colour, linewidth=0.8, linestyle=DOTS, zorder=3)
    _mark(ax, *map(list, zip(*points, strict=True)), colour, marker, face, f"points-{start}")


def _axis(
    ax: Axes, panel: Panel, places: dict[int, float], ends: tuple[float, float], y: float, has_zero: bool
) -> float:
    """The axis of queries: 0 and all always have their labels, other numbers if there is room."""
    sizes = sorted(size for size in places if size)
    if has_zero:
        middle = (places[0] + places[sizes[0]]) / 2
        rule(ax, ends[0], middle - 2, y, 0.6)
        rule(ax, middle + 2, ends[1], y, 0.6)
        for x in (middle - 2, middle + 2):
            ax.plot([x - 1.2, x + 1.2], [y + 2.4, y - 2.4], color=INK, linewidth=0.6)
    else:
        rule(ax, *ends, y, 0.6)
    taken: list[tuple[float, float]] = []
    wanted = [size for size in (0, panel.all_queries, sizes[0], *reversed(sizes)) if size in places]
    for size in dict.fromkeys(wanted):
        x, label = places[size], f"{size:,}"
        ax.plot([x, x], [y, y + TICK], color=INK, linewidth=0.6, solid_capstyle="butt")
        half = width(label, SIZE) / 2
        centre = min(x, ends[1] - half) if size == sizes[-1] else x
        if all(centre + half + 0.5 * SIZE < low or high + 0.5 * SIZE < centre - half for low, high in taken):
            taken.append((centre - half, centre + half))
            text(ax, centre, y + TICK + 1 + 0.6 * SIZE, label, SIZE, ha="center")
            if size == panel.all_queries:
                text(ax, centre, y + TICK + 1 + 1.8 * SIZE, "all", SIZE, ha="center", color=MUTED)
    text(ax, sum(ends) / 2, y + TICK + 1 + 1.8 * SIZE, "Training queries", SIZE, ha="center")
    return y + TICK + 1 + 2.6 * SIZE


Lines = dict[str, dict[str, list[tuple[float, float]]]]  # title of a panel -> seed -> points
COLUMNS, HEIGHT = 2, 1.9  # panels side by side; the height of a row in inches


def losses(lines: Lines) -> Figure:
    """Draw the panels, each on its own scale."""
    rows = math.ceil(len(lines) / COLUMNS)
    with matplotlib.rc_context(STYLE | {"font.size": SIZE, "axes.linewidth": 0.6, "axes.titlesize": SIZE}):
        figure = Figure(figsize=(PAGE / 72, HEIGHT * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        for ax, (title, of_seeds) in zip(axes, lines.items(), strict=False):
            for (seed, points), (colour, _) in zip(of_seeds.items(), cycle(LOOKS), strict=False):
                ax.plot(*zip(*points, strict=True), color=colour, linewidth=0.8, label=seed,
                        marker="o" if len(points) == 1 else "", markersize=3)  # fmt: skip
            ax.set_title(title, loc="left", weight="bold")
            ax.set(xlabel="Step", ylabel="Loss")
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            ax.tick_params(width=0.6, length=2.5)
            ax.spines[["top", "right"]].set_visible(False)
            if len(of_seeds) > 1:
                ax.legend(frameon=False, fontsize=SIZE - 1, ncols=2)
        for ax in axes[len(lines) :]:
            ax.set_visible(False)
    return figure
