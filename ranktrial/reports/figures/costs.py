"""The figure of costs: the effect of each system over one control against latency, training time and sizes.

Reads and writes nothing. A panel for each cost; a dot is a system with its name beside it. Where names are too many or
too long for a panel, numbers stand in their place, clear of one another and of other marks, and the names in a key.
Axes are logarithmic or linear. Systems without costs are side by side in a strip; their order there has no meaning. All
places are in points, from the lower left corner of the plot or from the panel's left edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
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
from ranktrial.reports.figures.page import STYLE
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


DISTANCES = (7.5, 11.0, 15.0, 20.0, 26.0)
DIRECTIONS = 16
ON_ANOTHER, ON_A_LINE = 40.0, 6.0  # what it costs to stand on another number or point, and on a line, in points


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


def around(x: float, y: float, width: float, height: float) -> Box:
    """The rectangle of this size around a point."""
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def placed(
    points: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    frame: Box,
    lines: Sequence[Box],
    mark: float,
) -> list[tuple[float, float]]:
    """The centre of each number, of these widths and this height, for the `points` with marks of the size `mark`.

    Each in turn takes the place in the frame of lowest cost: its distance to the point plus penalties for overlaps.
    """
    marks = [around(x, y, mark, mark) for x, y in points]
    taken: list[Box] = []
    found = []
    for (x, y), wide in zip(points, widths, strict=True):
        places = [
            (distance, x + distance * math.cos(angle), y + distance * math.sin(angle))
            for distance in DISTANCES
            for angle in (2 * math.pi * turn / DIRECTIONS for turn in range(DIRECTIONS))
        ]
        boxes = [(distance, around(at, up, wide, height)) for distance, at, up in places]
        inside = [(d, box) for d, box in boxes if box.left >= frame.left and box.right <= frame.right
                  and box.low >= frame.low and box.high <= frame.high]  # fmt: skip
        best = min(inside or boxes, key=lambda one: _price(*one, [*marks, *taken], lines))[1]
        taken.append(best)
        found.append(((best.left + best.right) / 2, (best.low + best.high) / 2))
    return found


def _price(distance: float, box: Box, things: Sequence[Box], lines: Sequence[Box]) -> float:
    covered = sum(box.meets(thing) for thing in things)
    crossed = sum(box.meets(line) for line in lines)
    return distance + ON_ANOTHER * covered + ON_A_LINE * crossed


SIZE, NUMBER, LEADING = 7.0, 6.0, 1.35  # of the type, in points, of numbers in the plot, and between lines
PAGE, LEFT, GAP, MARGIN = 504.0, 44.0, 14.0, 4.0  # points: two columns of a journal, and the spaces in them
BOTTOM, TOP = 34.0, 10.0
WIDEST, HEIGHT = 190.0, 150.0  # points: the greatest width and the least height of a panel
NAMES = 130.0  # points: the widest column of names
NAMED, SHARE = 12, 0.42  # the most systems with names at their dots, and the most of a panel's width that a name takes
DOT = 4.5
BESIDE = 8.5  # points from a dot, up to which a number is seen to belong to it
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
    panels = ["latency_ms", *(["training_seconds"] if trained else []), *sizes]
    notes = _notes(shown)
    labels = _labels(points, min(WIDEST, (PAGE - LEFT - NAMES - MARGIN) / len(panels) - GAP))
    names = [] if labels else _names(points)
    labels = labels or [str(number) for number in range(1, len(points) + 1)]
    key = max(width(line, SIZE) for lines in (*names, notes) for line in lines)
    lines = sum(map(len, names)) + len(notes) + 1
    height = max(HEIGHT, LEADING * SIZE * lines - BOTTOM)
    panel = min(WIDEST, (PAGE - LEFT - key - MARGIN) / len(panels) - GAP)
    paper = (LEFT + len(panels) * (panel + GAP) + key + MARGIN, height + BOTTOM + TOP)
    frame = _frame(points, height)
    with matplotlib.rc_context(STYLE | {"font.family": font(SIZE).get_family(), "font.size": SIZE}):
        figure = Figure(figsize=(paper[0] / 72, paper[1] / 72))
        FigureCanvasAgg(figure)
        for number, name in enumerate(panels):
            left = LEFT + number * (panel + GAP)
            ax = figure.add_axes((left / paper[0], BOTTOM / paper[1], panel / paper[0], height / paper[1]))
            _panel(ax, points, name, panel, frame, labels)
            ax.set_xlabel(SHORTER if name == "latency_ms" and len(panels) > 2 else PANELS[name])
            if number:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel(effect_named(shown.effect_type).AXIS.format(measure=shown.measure))
        _key(figure, names, notes, paper, key)
    return figure


def _frame(points: list[Point], height: float) -> _Frame:
    """The limits of the axis of effects, which all panels share."""
    low, high = min(point.ci_low for point in points), max(point.ci_high for point in points)
    room = 0.08 * ((high - low) or 1.0)
    return _Frame(height, low - room, high + room)


def _labels(points: list[Point], panel: float) -> list[str]:
    """The names of systems as they stand at their dots; none where they have no room in a panel."""
    labels = [f"{point.label} (control)" if point.is_control else point.label for point in points]
    widest = max(width(label, NUMBER) for label in labels)
    return labels if len(points) <= NAMED and widest <= SHARE * panel else []


def _names(points: list[Point]) -> list[list[str]]:
    """The lines of the key: each system's number and name."""
    labels = [f"{point.label} (control)" if point.is_control else point.label for point in points]
    return [wrap(f"{number}  {label}", NAMES, SIZE) for number, label in enumerate(labels, 1)]


def _notes(shown: Shown) -> list[str]:
    said = [
        f"vertical: {form.percent(shown.alpha)} CI of the effect",
        "horizontal: range over tasks and seeds; for a single run, its quartiles",
        "dashed: Pareto front of the means",
        "filled: on it, or off it only by noise; overlap of CIs is a cautious rule, since effects are paired",
        *shown.notes,
    ]
    return [line for note in said for line in wrap(note, NAMES, SIZE)]


def _panel(ax: Axes, points: list[Point], name: str, panel: float, frame: _Frame, labels: list[str]) -> None:
    """The systems that have this cost, with their labels, and their Pareto front as steps."""
    numbers = [label for label, point in zip(labels, points, strict=True) if getattr(point, name) is not None]
    known = [point for point in points if getattr(point, name) is not None]
    axis = cost_axis([getattr(point, name) for point in known], panel, SIZE)
    ax.set(xlim=(0, panel), ylim=(0, frame.height))
    _axes(ax, axis, frame)
    front = pareto_front(known, name)
    _steps(ax, known, name, axis, frame)
    for number, (point, place) in enumerate(zip(known, axis.places, strict=True)):
        _whiskers(ax, point, axis, number, frame)
        face = DIAMOND if number in front else "white"
        ax.plot([place.x], [frame.y(point.effect)], marker="s" if point.is_control else "o", markersize=DOT,
                markerfacecolor=face, markeredgecolor=DIAMOND, markeredgewidth=0.8, zorder=4)  # fmt: skip
    dots = [(place.x, frame.y(point.effect)) for point, place in zip(known, axis.places, strict=True)]
    inside = Box(1, 1, panel - 1, frame.height - 1)
    _numbers(ax, numbers, dots, inside, _lines(known, axis, frame))


def _numbers(ax: Axes, numbers: list[str], dots: list[tuple[float, float]], inside: Box, lines: list[Box]) -> None:
    """The labels of the dots, with a line to the dot if a label is further away."""
    widths = [width(number, NUMBER) for number in numbers]
    halo = [withStroke(linewidth=1.6, foreground="white")]
    places = placed(dots, widths, 0.75 * NUMBER, inside, lines, DOT)
    for number, at, dot in zip(numbers, places, dots, strict=True):
        away = math.hypot(max(abs(at[0] - dot[0]) - (width(number, NUMBER) / 2), 0), at[1] - dot[1])
        if away > BESIDE:
            ax.plot(*zip(at, dot, strict=True), color=INK, linewidth=0.4, zorder=3.5)
        ax.annotate(number, at, ha="center", va="center", fontsize=NUMBER, color=INK, zorder=5, path_effects=halo)


def _whiskers(ax: Axes, point: Point, axis: CostAxis, number: int, frame: _Frame) -> None:
    """The interval of the effect, and the range of the cost."""
    place = axis.places[number]
    ax.plot([place.x, place.x], [frame.y(point.ci_low), frame.y(point.ci_high)], color=FAINT, linewidth=0.7, zorder=2)
    ax.plot([place.low, place.high], [frame.y(point.effect)] * 2, color=DIAMOND, linewidth=0.9, zorder=3)


def _lines(points: list[Point], axis: CostAxis, frame: _Frame) -> list[Box]:
    """The whiskers of all systems as rectangles."""
    upright = [
        Box(place.x, frame.y(point.ci_low), place.x, frame.y(point.ci_high))
        for point, place in zip(points, axis.places, strict=True)
    ]
    level = [
        Box(place.low, frame.y(point.effect), place.high, frame.y(point.effect))
        for point, place in zip(points, axis.places, strict=True)
    ]
    return [*upright, *level]


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


def _key(figure: Figure, names: list[list[str]], notes: list[str], paper: tuple[float, float], key: float) -> None:
    """The names of the systems by their numbers, and the notes below them."""
    x, y = paper[0] - MARGIN - key, paper[1] - TOP - SIZE
    for lines in names:
        for position, line in enumerate(lines):
            at = (x + 8 if position else x) / paper[0], y / paper[1]
            figure.text(*at, line, fontproperties=font(SIZE), parse_math=False)
            y -= LEADING * SIZE
    y -= 0.6 * SIZE
    for note in notes:
        figure.text(x / paper[0], y / paper[1], note, fontproperties=font(SIZE), color=MUTED)
        y -= LEADING * SIZE
