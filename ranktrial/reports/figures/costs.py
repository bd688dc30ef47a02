"""The figure of costs: the effect of each system over one control against latency, training time and sizes.

Reads and writes nothing. A panel for each cost; a dot is a system with its name beside it. Where the names of a panel
cannot all be clear of one another and of the dots, numbers stand in their place, and the names in a key.
Axes are logarithmic or linear. Systems without costs are side by side in a strip; their order there has no meaning. All
places are in points, from the lower left corner of the plot or from the panel's left edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter, MaxNLocator

from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.experiment.results_paths import fields_of
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.cost_data import ALONE, Beside, Cost, Point, pareto_front, point_of, row, side_by_side
from ranktrial.reports.figures.fonts import font, width, wrap
from ranktrial.reports.figures.forest_layout import axis_ticks, chosen_ticks
from ranktrial.reports.figures.marks import DIAMOND, FAINT, INK, MUTED
from ranktrial.reports.figures.page import sized_page
from ranktrial.statistics.effects import effect_named

PITCH = 9.0  # between two systems that cost nothing
EDGE = 8.0  # inside the panel's frame, and between the strip and the rest
WIDE = 5.0  # a ratio of the highest cost to the lowest from which on the axis is logarithmic, with two ticks or more
NARROW = 0.4  # the least range of an axis, as a share of its middle: equal costs but for noise stand close together
STEPS = ((1, 2, 5), (1, 3), (1,))  # ticks in a power of ten


END_TO_END = "Times are end to end: including those of first stages and fused systems."


@dataclass(frozen=True)
class Settings(Typeset):
    """The systems that the figure compares, and the timing files of each."""

    control: Annotated[str, "the control of all comparisons"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    labels: Annotated[dict[str, str], "labels of systems that have one"]
    beside: Annotated[dict[str, Beside], "timing file of a run: those of what is behind it"]
    sizes: Annotated[list[str], "of index_mb and weights_mb those that are drawn"] = field(default_factory=list)
    exclusive: Annotated[bool, "searches and rankings ran one at a time"] = False


def notes(settings: Settings, rows: dict[str, list[dict]]) -> list[str]:
    """The notes on the times: which steps they include, and whether other work ran at the same time."""
    several = any(beside.parts for beside in settings.beside.values())
    cores = [row["other_cores"] for of_system in rows.values() for row in of_system if row["other_cores"] is not None]
    busy = side_by_side(cores)
    alone = [ALONE] if settings.exclusive else []
    return [*([END_TO_END] if several else []), *alone, *([f"{busy}."] if busy else [])]


def draw(meta: list[Path], timing: list[Path], settings: Settings) -> Figure:
    """Draw each treatment's effect over one control (meta/{comparison}.json) against latency, training time and size.

    `timing` are the timing.json of the systems' runs and of all that is behind them.
    """
    labels = Labels({}, settings.labels)
    rows: dict[str, list[dict]] = {}
    for path in timing:
        if str(path) in settings.beside:  # a run's timing; the others are those of what is behind it
            system = fields_of("run_timing", path)["system"]
            rows.setdefault(system, []).append(row(path, settings.beside[str(path)]))
    metas = [read_record(MetaRecord, path) for path in meta]
    points = []
    if settings.control in rows:
        points.append(point_of(labels.system(settings.control), rows[settings.control], None))
    for one in metas:
        if one.summary:
            points.append(point_of(labels.system(one.treatment), rows[one.treatment], one.summary))
    shown = Shown(metas[0].effect_type, metas[0].measure, settings.alpha, notes(settings, rows))
    return cost_figure(points, shown, settings.sizes)


class Place(NamedTuple):
    """The place of a system, and the range of its costs."""

    x: float
    low: float
    high: float


@dataclass(frozen=True)
class CostAxis:
    """The place of each cost, the ticks with their labels, and the right end of the strip, None if there is none."""

    places: list[Place]
    ticks: list[tuple[float, str]]
    strip: float | None


def cost_axis(costs: Sequence[Cost], panel: float, size: float) -> CostAxis:
    """The axis of these costs on a panel of this width, with labels in type of this size."""
    zeros = [number for number, cost in enumerate(costs) if cost.mean == 0]
    positive = [cost for cost in costs if cost.mean > 0]
    if not positive:
        pitch = min(PITCH, (panel - 2 * EDGE) / max(1, len(zeros)))
        return CostAxis(_strip(len(zeros), panel, pitch), [(panel / 2, "none")], None)
    pitch = min(PITCH, panel / 2 / max(1, len(zeros)))
    strip = len(zeros) * pitch + EDGE if zeros else 0.0
    least = min(cost.low or cost.mean for cost in positive)
    scale = _Scale(*_widened(least, max(cost.high for cost in positive)), strip + EDGE, panel - EDGE)
    free = iter(_strip(len(zeros), strip, pitch))
    places = [
        next(free) if cost.mean == 0 else Place(*(scale.x(max(value, least)) for value in cost)) for cost in costs
    ]
    ticks = [(strip / 2, "none")] if zeros else []
    return CostAxis(places, ticks + scale.ticks(size, ticks), strip or None)


def _widened(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis that holds these costs in its middle."""
    middle, half = (low + high) / 2, (high - low) / 2
    half = max(half, NARROW / 2 * middle)
    return middle - half, middle + half


def _strip(count: int, room: float, pitch: float) -> list[Place]:
    """The places of systems without costs, side by side in the middle of the strip."""
    first = room / 2 - pitch * (count - 1) / 2
    return [Place(x, x, x) for x in (first + pitch * number for number in range(count))]


@dataclass(frozen=True)
class _Scale:
    """The scale between the costs at `left` and `right`."""

    low: float
    high: float
    left: float
    right: float

    @property
    def logarithmic(self) -> bool:
        return self.high > WIDE * self.low

    def x(self, value: float) -> float:
        low, high, at = (math.log(one) if self.logarithmic else one for one in (self.low, self.high, value))
        return self.left + (at - low) / (high - low) * (self.right - self.left)

    def ticks(self, size: float, taken: list[tuple[float, str]]) -> list[tuple[float, str]]:
        """Round ticks with room between their labels, clear of those that are `taken`."""
        if not self.logarithmic:
            found = axis_ticks((self.low, self.high), self.right - self.left, size, 0)
            return _apart([(self.x(value), label) for value, label in found], taken, size)
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for digits in STEPS:
            values = [digit * 10.0**power for power in powers for digit in digits]
            ticks = [(self.x(value), f"{value:,g}") for value in values if self.low <= value <= self.high]
            if len(_apart(ticks, taken, size)) == len(ticks):
                break
        return _apart(ticks, taken, size)


def _apart(ticks: list[tuple[float, str]], taken: list[tuple[float, str]], size: float) -> list[tuple[float, str]]:
    """The ticks whose labels leave room for those before them."""
    kept = list(taken)
    for x, label in ticks:
        if not kept or x - kept[-1][0] >= (width(label, size) + width(kept[-1][1], size)) / 2 + 0.6 * size:
            kept.append((x, label))
    return kept[len(taken) :]


GAPS = (2.0, 5.0, 9.0, 14.0, 20.0)  # points between a dot and its label
DIRECTIONS = 16
AIR = 2.0  # points by which another dot is further from a label than its own
ON_ANOTHER, ON_A_LINE = 40.0, 6.0  # what it costs to stand on another label or dot, and on a line, in points


class Box(NamedTuple):
    """A rectangle; a line has no width or no height."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        across = self.left < other.right and other.left < self.right
        return across and self.low < other.high and other.low < self.high

    def distance(self, x: float, y: float) -> float:
        """The distance of a point, 0 inside."""
        return math.hypot(max(self.left - x, 0, x - self.right), max(self.low - y, 0, y - self.high))

    def holds(self, other: Box) -> bool:
        """Whether the other rectangle lies inside this one."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.low <= other.low and other.high <= self.high


def around(x: float, y: float, width: float, height: float) -> Box:
    """The rectangle of this size around a point."""
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


class Spot(NamedTuple):
    """The place of a label's centre, its distance from its dot, and whether it is clear.

    A clear label overlaps no dot and no other label, and no other dot is as near to it as its own.
    """

    x: float
    y: float
    distance: float
    clear: bool


def placed(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    frame: Box,
    lines: Sequence[Box],
    mark: float,
) -> list[Spot]:
    """The spot of each label, of these widths and this height, for the `points` with marks of the size `mark`.

    Each in turn, those with the most neighbours first, takes the spot of lowest cost: its distance to the point plus
    penalties for overlaps.
    """
    taken = [around(x, y, mark, mark) for x, y in points]
    crowd = [sum(math.dist(one, other) < 3 * GAPS[-1] for other in points) for one in points]
    found: dict[int, Spot] = {}
    for number in sorted(range(len(points)), key=lambda one: -crowd[one]):
        (x, y), wide = points[number], widths[number]
        others = [point for other, point in enumerate(points) if other != number]
        tried = []
        for gap in GAPS:
            for angle in (2 * math.pi * turn / DIRECTIONS for turn in range(DIRECTIONS)):
                across, up = (wide + mark) / 2 + gap, (height + mark) / 2 + gap
                spot = x + across * math.cos(angle), y + up * math.sin(angle)
                box = around(*spot, wide, height)
                away = box.distance(x, y)
                wrong = sum(box.meets(thing) for thing in taken) + 2 * (not frame.holds(box))
                wrong += sum(box.distance(*other) < away + AIR for other in others)
                price = away + ON_ANOTHER * wrong + ON_A_LINE * sum(box.meets(line) for line in lines)
                tried.append((price, box, Spot(*spot, away, not wrong)))
        _, box, found[number] = min(tried, key=lambda one: one[0])
        taken.append(box)
    return [found[number] for number in range(len(points))]


SIZE, NUMBER, LEADING = 7.0, 6.0, 1.35  # of the type, in points, of numbers in the plot, and between lines
PAGE, LEFT, GAP, MARGIN = 504.0, 44.0, 14.0, 4.0  # points: two columns of a journal, and the spaces in them
BOTTOM, TOP = 34.0, 10.0  # points below and above a panel
WIDEST, HEIGHT, EACH = 214.0, 150.0, 14.0  # points: the greatest width of a panel, its least height, and per system
NAMES = 130.0  # points: the widest column of names
DOT = 4.5
BESIDE = 5.5  # points from a dot, up to which a label is seen to belong to it
PANELS = {
    "latency_ms": "Median latency of a query (ms)",
    "training_seconds": "Training time (s)",
    "index_mb": "Index (MB)",
    "weights_mb": "Weights (MB)",
}
SHORTER = "Median latency (ms)"  # where panels are narrow


class Shown(NamedTuple):
    """The texts of the figure: the effect's type and measure, the level, and notes below the key."""

    effect_type: str
    measure: str
    alpha: float
    notes: Sequence[str] = ()


class _Frame(NamedTuple):
    """The height of a panel in points and the effects at its lower and upper end."""

    height: float
    low: float
    high: float

    def y(self, effect: float) -> float:
        return (effect - self.low) / (self.high - self.low) * self.height


def cost_figure(points: list[Point], shown: Shown, sizes: Sequence[str] = ()) -> Figure:
    """Draw a panel of latency, one of training time where anything was trained, and of these sizes."""
    trained = any(point.training_seconds and point.training_seconds.mean for point in points)
    costs = ["latency_ms", *(["training_seconds"] if trained else []), *sizes]
    names = [f"{point.label} (control)" if point.is_control else point.label for point in points]
    frame = _frame(points, max(HEIGHT, EACH * len(points)))
    key: list[list[str]] = []
    panels = _panels(points, names, costs, 0.0, frame)
    if not all(spot.clear for panel in panels for spot in panel.spots):
        key = [wrap(f"{number}  {name}", NAMES, SIZE) for number, name in enumerate(names, 1)]
        numbers = [str(number) for number in range(1, len(points) + 1)]
        panels = _panels(points, numbers, costs, max(width(line, SIZE) for lines in key for line in lines), frame)
    right = LEFT + len(panels) * (panels[0].width + GAP)
    wide = right + max((width(line, SIZE) for lines in key for line in lines), default=-GAP) + MARGIN
    notes = wrap(_notes(shown), wide - LEFT - MARGIN, SIZE)
    bottom = BOTTOM + LEADING * SIZE * len(notes) + MARGIN
    paper = (wide, frame.height + bottom + TOP)
    with sized_page(*paper) as figure:
        for number, panel in enumerate(panels):
            left = LEFT + number * (panel.width + GAP)
            place = (left / paper[0], bottom / paper[1], panel.width / paper[0], frame.height / paper[1])
            ax = figure.add_axes(place)
            _draw(ax, panel)
            ax.set_xlabel(SHORTER if panel.name == "latency_ms" and len(panels) > 2 else PANELS[panel.name])
            if number:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel(effect_named(shown.effect_type).AXIS.format(measure=shown.measure))
        _texts(figure, [(right + (8 if row else 0), line, INK) for lines in key for row, line in enumerate(lines)],
               paper, paper[1] - TOP - SIZE)  # fmt: skip
        _texts(figure, [(LEFT, line, MUTED) for line in notes], paper, bottom - BOTTOM - SIZE)
    return figure


def _frame(points: list[Point], height: float) -> _Frame:
    """The limits of the axis of effects, which all panels share."""
    low, high = min(point.ci_low for point in points), max(point.ci_high for point in points)
    room = 0.08 * ((high - low) or 1.0)
    return _Frame(height, low - room, high + room)


def _notes(shown: Shown) -> str:
    front = "filled: on it, or off it only by noise; overlap of CIs is a cautious rule, since effects are paired"
    return " ".join([
        f"Vertical: {form.percent(shown.alpha)} CI of the effect. Horizontal: range over tasks and seeds; for a single "
        f"run, its quartiles. Dashed: Pareto front of the means; {front}.", *shown.notes
    ])  # fmt: skip


@dataclass(frozen=True)
class _Panel:
    """The systems that have a cost, and their labels, in a plot of this width."""

    name: str
    points: list[Point]
    labels: list[str]
    width: float
    frame: _Frame

    @cached_property
    def axis(self) -> CostAxis:
        return cost_axis([getattr(point, self.name) for point in self.points], self.width, SIZE)

    @property
    def dots(self) -> list[tuple[float, float]]:
        return [(place.x, self.frame.y(point.effect)) for point, place in self._placed]

    @cached_property
    def spots(self) -> list[Spot]:
        widths = [width(label, NUMBER) for label in self.labels]
        inside = Box(1, 1, self.width - 1, self.frame.height - 1)
        return placed(self.dots, widths, NUMBER, inside, self._lines, DOT)

    @property
    def _placed(self) -> list[tuple[Point, Place]]:
        return list(zip(self.points, self.axis.places, strict=True))

    @property
    def _lines(self) -> list[Box]:
        """The whiskers of all systems, and the line of no effect, as rectangles."""
        y = self.frame.y
        upright = [Box(place.x, y(point.ci_low), place.x, y(point.ci_high)) for point, place in self._placed]
        level = [Box(place.low, y(point.effect), place.high, y(point.effect)) for point, place in self._placed]
        return [*upright, *level, Box(0, y(0), self.width, y(0))]


def _panels(points: list[Point], labels: list[str], costs: Sequence[str], key: float, frame: _Frame) -> list[_Panel]:
    """The panels beside a key of this width."""
    each = min(WIDEST, (PAGE - LEFT - key - MARGIN) / len(costs) - GAP)
    found = []
    for name in costs:
        known = [
            (point, label) for point, label in zip(points, labels, strict=True) if getattr(point, name) is not None
        ]
        found.append(_Panel(name, [point for point, _ in known], [label for _, label in known], each, frame))
    return found


def _draw(ax: Axes, panel: _Panel) -> None:
    """The systems of a panel with their labels, and their Pareto front as steps."""
    axis, frame = panel.axis, panel.frame
    ax.set(xlim=(0, panel.width), ylim=(0, frame.height))
    _axes(ax, axis, frame)
    front = pareto_front(panel.points, panel.name)
    _steps(ax, panel.points, panel.name, axis, frame)
    for number, (point, dot) in enumerate(zip(panel.points, panel.dots, strict=True)):
        _whiskers(ax, point, axis, number, frame)
        face = DIAMOND if number in front else "white"
        ax.plot(*dot, marker="s" if point.is_control else "o", markersize=DOT, markerfacecolor=face,
                markeredgecolor=DIAMOND, markeredgewidth=0.8, zorder=4)  # fmt: skip
    halo = [withStroke(linewidth=1.6, foreground="white")]
    for label, spot, dot in zip(panel.labels, panel.spots, panel.dots, strict=True):
        if spot.distance > BESIDE:
            end = min(max(dot[0], spot.x - width(label, NUMBER) / 2), spot.x + width(label, NUMBER) / 2)
            ax.plot([end, dot[0]], [spot.y, dot[1]], color=INK, linewidth=0.4, zorder=3.5)
        ax.annotate(label, spot[:2], ha="center", va="center", fontsize=NUMBER, color=INK, zorder=5, path_effects=halo)


def _whiskers(ax: Axes, point: Point, axis: CostAxis, number: int, frame: _Frame) -> None:
    """The interval of the effect, and the range of the cost."""
    place = axis.places[number]
    ax.plot([place.x, place.x], [frame.y(point.ci_low), frame.y(point.ci_high)], color=FAINT, linewidth=0.7, zorder=2)
    ax.plot([place.low, place.high], [frame.y(point.effect)] * 2, color=DIAMOND, linewidth=0.9, zorder=3)


def _steps(ax: Axes, points: list[Point], name: str, axis: CostAxis, frame: _Frame) -> None:
    """The Pareto front of the means as steps: at each cost the largest effect at that cost or less."""
    xs, ys = [], []
    for number in sorted(range(len(points)), key=lambda one: (getattr(points[one], name).mean, -points[one].effect)):
        y = frame.y(points[number].effect)
        if not ys or y > ys[-1]:
            xs.append(axis.places[number].x)
            ys.append(y)
    ax.step(xs, ys, where="post", color=DIAMOND, linewidth=0.8, linestyle=(0, (3, 2)), zorder=2)


def _axes(ax: Axes, axis: CostAxis, frame: _Frame) -> None:
    """Ticks, the line of no effect, and the end of the strip of systems that cost nothing."""
    ax.axhline(frame.y(0), color=MUTED, linewidth=0.6, zorder=1)
    if axis.strip is not None:
        ax.axvline(axis.strip, color=FAINT, linewidth=0.6, linestyle=(0, (1, 2)), zorder=1)
    ax.xaxis.set_major_locator(FixedLocator([x for x, _ in axis.ticks]))
    ax.xaxis.set_major_formatter(FixedFormatter([label for _, label in axis.ticks]))
    values = MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]).tick_values(frame.low, frame.high)
    inside = [float(value) for value in values if frame.low <= value <= frame.high]
    ax.yaxis.set_major_locator(FixedLocator([frame.y(value) for value in inside]))
    labels = [label for _, label in chosen_ticks(inside, 0)]
    ax.yaxis.set_major_formatter(FuncFormatter(lambda _, place: labels[place] if place is not None else ""))
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(width=0.6, length=2.5)


def _texts(figure: Figure, lines: list[tuple[float, str, str]], paper: tuple[float, float], y: float) -> None:
    """Lines one below the other: where each begins, its text and colour."""
    for x, line, colour in lines:
        figure.text(x / paper[0], y / paper[1], line, fontproperties=font(SIZE), color=colour, parse_math=False)
        y -= LEADING * SIZE
