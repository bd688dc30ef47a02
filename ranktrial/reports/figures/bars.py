"""Bar charts: the means of several systems per model, their standard deviation over seeds and a baseline as a line.

Reads and writes nothing. Drawn in points, with the type and colours of the forest plots. Bars are horizontal, so that
long names of models fit, and begin at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ranktrial.experiment.drawing import Chart
from ranktrial.ir.means import MeansRow, read_means
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import LEADING, MARGIN, axis_ticks
from ranktrial.reports.figures.marks import FAINT, INK, MUTED, rule, text, text_centred, text_down
from ranktrial.reports.figures.page import draw_title, drawn_page

PAGE, SIZE, SMALL = 504.0, 7.5, 6.0  # points: two columns of a journal, the type, and that of the values
NAMES = 150.0  # points: the widest column of names
GAP = 6.0  # points between two rows
# Apart in lightness as well as in hue, so that they differ in grey and for colour-blind readers.
COLOURS = ["#1b4f82", "#8fb3d3", "#c8781e", "#e6d9c3", "#5c7f4b", "#4a2a4a"]
DECIMALS = 3
DASHES = (0, (4, 2))
Means = dict[tuple[str, str], MeansRow]  # by task and system


def bar(means: Means, task: str, system: str, measure: str) -> Bar:
    """A system's mean on a task."""
    mean = means[task, system].measures[measure]
    return Bar(mean.value, mean.further.get("sd"))


def filled(means: Means, settings: Chart) -> BarChart:
    """The chart of these settings with its numbers."""
    rows = {
        row: [
            bar(means, group.task, group.systems[row], group.measure) if row in group.systems else None
            for group in settings.bars
        ]
        for row in settings.rows
    }
    name, label = settings.baseline or ("", "")
    lines = [bar(means, group.task, name, group.measure).value for group in settings.bars] if name else []
    return BarChart(settings.title, settings.axis, [group.label for group in settings.bars], rows, label, tuple(lines))


def draw(means: Path, settings: Chart) -> Figure:
    """Draw a bar chart of means (tables/means.tsv), with the systems of one model side by side."""
    return bar_chart(filled({(row.task, row.system): row for row in read_means(means)}, settings))


@dataclass(frozen=True)
class Bar:
    """A mean and its standard deviation over seeds (None for one seed)."""

    value: float
    sd: float | None = None


@dataclass(frozen=True)
class BarChart:
    """What a bar chart shows: for each row one bar per label, None if there is none.

    `lines` are the baseline's values, one per label; without a baseline there are none.
    """

    title: str
    axis: str
    labels: list[str]
    rows: dict[str, list[Bar | None]]
    baseline: str = ""
    lines: tuple[float, ...] = ()

    @property
    def high(self) -> float:
        """The largest number on the axis."""
        bars = [bar.value + (bar.sd or 0.0) for row in self.rows.values() for bar in row if bar]
        return max([*bars, *self.lines], default=0.0) or 1.0

    @property
    def one_line(self) -> bool:
        """Whether all bars have the same baseline, which then is one line through the chart."""
        return len(set(self.lines)) == 1


@dataclass(frozen=True)
class _Place:
    """The geometry of the bars: the plot's left and right end, the largest value of the axis, the height of one bar."""

    left: float
    right: float
    high: float
    bar: float

    def x(self, value: float) -> float:
        return self.left + value / self.high * (self.right - self.left)


def bar_chart(chart: BarChart) -> Figure:
    """Draw a bar chart at its final size; its height follows the number of bars."""
    names = {row: wrap(row, NAMES, SIZE) for row in chart.rows}
    left = MARGIN + max((width(part, SIZE) for parts in names.values() for part in parts), default=0.0) + SIZE
    value = width(form.fixed(0.0, DECIMALS), SMALL) + 8
    bar = 10.0 if len(chart.labels) < 3 else 8.0
    place = _Place(left, PAGE - MARGIN - value, 1.02 * chart.high, bar)

    def draw(ax: Axes) -> float:
        top = _head(ax, chart)
        y = top + GAP / 2
        for row, bars in chart.rows.items():
            height = max(len(bars) * bar, len(names[row]) * LEADING * SIZE)
            text_centred(ax, MARGIN, y + height / 2, names[row], SIZE, LEADING * SIZE)
            _row(ax, chart, place, bars, y + (height - len(bars) * bar) / 2)
            y += height + GAP
        bottom = y - GAP / 2
        if chart.one_line:
            x = place.x(chart.lines[0])
            ax.plot([x, x], [top, bottom - 1], color="white", linewidth=2.0, solid_capstyle="butt", zorder=2.5)
            ax.plot([x, x], [top, bottom], color=INK, linewidth=0.8, linestyle=DASHES, zorder=5, gid="baseline")
        return _axis(ax, chart, place, top, bottom) + MARGIN

    return drawn_page(PAGE, draw)


def _head(ax: Axes, chart: BarChart) -> float:
    """Draw the title and the key; return where the rows begin."""
    y = draw_title(ax, chart.title, PAGE, SIZE, 1.3, MARGIN)
    keys: list[tuple[str, str | None]] = []
    if len(chart.labels) > 1:
        keys += list(zip(chart.labels, COLOURS, strict=False))
    if chart.lines:
        values = dict.fromkeys(form.fixed(value, DECIMALS) for value in chart.lines)  # each once
        keys.append((f"{chart.baseline}: {', '.join(values)}", None))
    x, y = MARGIN, y + 0.8 * SIZE
    for label, colour in keys:
        needed = 14 + width(label, SIZE) + 12
        if x > MARGIN and x + needed > PAGE - MARGIN:
            x, y = MARGIN, y + 1.4 * SIZE
        if colour:
            _box(ax, x, y - 0.4 * SIZE, 10, 0.8 * SIZE, colour)
        elif chart.one_line:
            ax.plot([x, x + 11], [y, y], color=INK, linewidth=0.8, linestyle=DASHES)
        else:
            _tick(ax, x + 5, y - 0.45 * SIZE, y + 0.45 * SIZE)
        text(ax, x + 14, y, label, SIZE)
        x += needed
    return y + 1.1 * SIZE if keys else y


def _row(ax: Axes, chart: BarChart, place: _Place, bars: list[Bar | None], y: float) -> None:
    """The bars of one row, from y downwards: each with its whisker, its value, and its baseline where these differ."""
    for index, bar in enumerate(bars):
        middle = y + (index + 0.5) * place.bar
        if bar is None:
            text(ax, place.left + 2, middle, "not run", SMALL, style="italic", color=MUTED)
            continue
        _box(
            ax, place.left, middle - 0.42 * place.bar, place.x(bar.value) - place.left, 0.84 * place.bar, COLOURS[index]
        )
        end = place.x(bar.value + (bar.sd or 0.0))
        if bar.sd is not None:
            _whisker(ax, place.x(max(0.0, bar.value - bar.sd)), end, middle, 0.22 * place.bar)
        if chart.lines and not chart.one_line:
            x = place.x(chart.lines[index])
            _tick(ax, x, middle - 0.5 * place.bar, middle + 0.5 * place.bar)
            end = x if end - 2 < x < end + 26 else end
        label = form.fixed(bar.value, DECIMALS)
        blank = Rectangle(
            (end + 3, middle - 0.36 * SIZE), width(label, SMALL), 0.72 * SIZE, facecolor="white", zorder=6
        )
        ax.add_patch(blank)  # a baseline does not run through the number
        text(ax, end + 3, middle, label, SMALL, zorder=7)


def _box(ax: Axes, x: float, y: float, long: float, high: float, colour: str) -> None:
    ax.add_patch(Rectangle((x, y), long, high, facecolor=colour, edgecolor=INK, linewidth=0.3, zorder=2))


def _whisker(ax: Axes, low: float, high: float, y: float, cap: float) -> None:
    """One standard deviation to either side, with a light rim that keeps it visible on a dark bar."""
    for colour, thick in (("white", 2.0), (INK, 0.8)):
        for xs, ys in (([low, high], [y, y]), ([low, low], [y - cap, y + cap]), ([high, high], [y - cap, y + cap])):
            ax.plot(xs, ys, color=colour, linewidth=thick, solid_capstyle="butt", zorder=3 if colour == "white" else 4)


def _tick(ax: Axes, x: float, top: float, bottom: float) -> None:
    """A baseline beside one bar."""
    ax.plot([x, x], [top, bottom], color="white", linewidth=2.4, solid_capstyle="butt", zorder=4.5)
    ax.plot([x, x], [top, bottom], color=INK, linewidth=1.2, solid_capstyle="butt", zorder=5)


def _axis(ax: Axes, chart: BarChart, place: _Place, top: float, bottom: float) -> float:
    """Draw the axis, its grid and its label, and the definition of a whisker; return where they end."""
    rule(ax, place.left, place.right, bottom, 0.6)
    ax.plot([place.left] * 2, [top, bottom], color=INK, linewidth=0.6)
    for value, label in axis_ticks((0.0, place.high), place.right - place.left, SIZE, 0):
        x = place.x(value)
        if value:
            ax.plot([x, x], [top, bottom], color=FAINT, linewidth=0.3, zorder=0)
        ax.plot([x, x], [bottom, bottom + 2.5], color=INK, linewidth=0.6)
        text(ax, x, bottom + 3.5 + 0.6 * SIZE, label, SIZE, ha="center")
    y = bottom + 3.5 + 2.0 * SIZE
    spread = any(bar and bar.sd is not None for row in chart.rows.values() for bar in row)
    label = f"{chart.axis} (whiskers: ± 1 standard deviation over seeds)" if spread else chart.axis
    lines = wrap(label, place.right - place.left, SIZE)
    return text_down(ax, (place.left + place.right) / 2, y, lines, SIZE, LEADING * SIZE, ha="center") - 0.5 * SIZE
