"""The layout of a forest plot: its columns, its axis with ticks and labels, and its lines, in points.

Reads and writes nothing. Widths come from measured text. Where the page is too narrow for all columns the type shrinks
first, then the least needed columns go, so that nothing is ever cut off or set over something else.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ranktrial.records.facts import Facts
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.plot_text import Line, lines_of
from ranktrial.reports.comparison.reading import Forest, Found, Looks
from ranktrial.reports.figures.fonts import width, wrap

_CUT = 3.0  # how far beyond everything else an interval is drawn, in median half-widths
_WHOLE = ("subtotal", "mean", "summary", "fixed", "posterior")  # their intervals are never cut


def axis_limits(lines: list[Line], held: Sequence[float] = ()) -> tuple[float, float]:
    """The axis holds 0, every effect, every summary's interval, and other intervals unless they are far longer.

    It also holds the values `held`.

    An interval is cut where it goes further beyond the rest than the rest is wide, and than three median half-widths.
    """
    drawn = [line for line in lines if line.low is not None]
    ends = [end for line in drawn for end in (line.beyond or (line.low, line.high))]
    if not drawn:
        return -1.0, 1.0
    core = [0.0, *held] + [line.effect for line in drawn if line.effect is not None]
    core += [end for line in drawn if line.kind in _WHOLE for end in (line.low, line.high)]
    half = statistics.median((line.high - line.low) / 2 for line in drawn)
    beyond = max(max(core) - min(core), _CUT * half) or 1.0
    low = max(min(core) - beyond, min([*core, *ends]))
    high = min(max(core) + beyond, max([*core, *ends]))
    padding = 0.04 * ((high - low) or 2.0)
    return low - padding, high + padding


def common_limits(comparisons: Sequence[Found], looks: Looks, facts: Facts) -> tuple[float, float]:
    """The limits of an axis shared by the figures of all these comparisons.

    They hold tasks and random-effects summaries; what a figure adds by option does not widen all others.
    """
    plain = replace(looks, fixed=False, bayesian=False)
    plots = [Forest((comparison,), plain, facts) for comparison in comparisons]
    return axis_limits([line for plot in plots for line in lines_of(plot, form.numbers(plot))])


def axis_ticks(limits: tuple[float, float], plot: float, size: float, exponent: int) -> list[tuple[float, str]]:
    """Ticks at multiples of a round step, in units of 10^exponent: at most six, with room between their labels.

    The step is the smallest 1, 2, 2.5 or 5 (times a power of ten) that gives three ticks, else 3 or 4; else fewer do.
    """
    low, high = (limit / 10**exponent for limit in limits)
    power = math.floor(math.log10((high - low) / 10))
    steps = [d * 10.0**order for digits in ((1, 2, 2.5, 5), (3, 4)) for order in (power, power + 1) for d in digits]
    for least, step in itertools.product((3, 2, 1), steps):
        values = [step * multiple for multiple in range(math.ceil(low / step), math.floor(high / step) + 1)]
        labels = [form.fixed(value, _decimals(step)) for value in values]
        widths = [width(label, size) for label in labels]
        needed = max((sum(pair) / 2 + 0.6 * size for pair in itertools.pairwise(widths)), default=0)
        if least <= len(values) <= 6 and needed <= step / (high - low) * plot:
            return [(value * 10**exponent, label) for value, label in zip(values, labels, strict=True)]
    return [(0.0, "0")]


def chosen_ticks(values: Sequence[float], exponent: int) -> list[tuple[float, str]]:
    """The ticks that were asked for, with the decimals that all of them need."""
    decimals = max((_decimals(value / 10**exponent) for value in values), default=0)
    return [(value, form.fixed(value / 10**exponent, decimals)) for value in values]


def _decimals(value: float) -> int:
    """The decimals that a round number needs."""
    text = f"{value:.10f}".rstrip("0")
    return len(text) - text.index(".") - 1


MARGIN = 4.0
GAP = 10.0  # between columns
PIECE_GAP = 3.0  # between the pieces of a cell
SIZES = (7.0, 6.5, 6.0)  # of the type, from the preferred to the smallest
LEADING = 1.25  # between the lines of one label, in font sizes
_LEFT = ("n", "means", "judged")
_RIGHT = ("effect", "weight", "p")
_DROP = ("judged", "weight", "n", "p", "means")  # the order in which columns go where the page is too narrow
_HEADING = 70.0  # the least width at which a heading breaks
_PLOT = {"single column": 84.0, "double column": 118.0}  # the least width of the plot
_TASK = {"single column": 0.27, "double column": 0.24}  # of the page: the most that task names take before they break
_PAGE_HEIGHT = 8.2 * 72  # for the lines; if there are too many they are set closer
_MOST_BESIDE = 2  # lines of text about heterogeneity to the left of the plot; more run across it
PITCH = (1.9, 1.4)  # of the lines, in font sizes: usual and closest


@dataclass
class Column:
    """A column with the lines of its heading. `points` are the places of its pieces' decimal points, from `left`."""

    heading: list[str]
    points: list[float]
    width: float
    left: float = 0.0

    @property
    def centre(self) -> float:
        """The middle of the column."""
        return self.left + self.width / 2

    def widen(self, least: float) -> None:
        """Make the column at least this wide, with its cells centred."""
        more = max(0.0, least - self.width)
        self.width += more
        self.points = [point + more / 2 for point in self.points]


@dataclass
class Layout:
    """A figure in points: the `size` of its type, its `columns`, the plot's `left` and `right`, limits and ticks."""

    page: float
    size: float
    columns: dict[str, Column]
    left: float
    right: float
    limits: tuple[float, float]
    ticks: list[tuple[float, str]]
    pitch: float = 0.0

    def x(self, value: float) -> float:
        """The place of an effect on the page."""
        low, high = self.limits
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def holds(self, value: float) -> bool:
        """Whether the axis contains an effect."""
        return self.limits[0] <= value <= self.limits[1]

    def crosses(self, line: Line) -> bool:
        """Whether the text of a line runs across the plot."""
        return line.kind == "heterogeneity" and any(width(part, self.size) > self.beside for part in line.text)

    @property
    def beside(self) -> float:
        """The room for text to the left of the plot."""
        return self.left - GAP - MARGIN

    def height(self, line: Line) -> float:
        """The height of a line, by its lines of text."""
        return self.pitch + (line.rows - 1) * LEADING * self.size


def layout(forest: Forest, lines: list[Line], numbers: form.Numbers, pitch: float | None = None) -> Layout:
    """Choose type size and columns, place them and the axis, and break and place the labels of `lines`.

    `pitch` is that of the lines, in points, in place of one by which they fill at most a page.
    """
    page = forest.inches * 72
    size, columns, task, plot = _room(forest, lines, numbers, page)
    left = _place(columns, _LEFT, MARGIN + task + GAP)
    _place(columns, _RIGHT, left + plot + GAP)
    limits = forest.limits or axis_limits(lines, forest.looks.ticks or ())
    ticks = axis_ticks(limits, plot, size, numbers.exponent)
    if forest.looks.ticks is not None:
        ticks = chosen_ticks([tick for tick in forest.looks.ticks if limits[0] <= tick <= limits[1]], numbers.exponent)
    result = Layout(page, size, columns, left, left + plot, limits, ticks)
    _break_labels(result, lines, task)
    _set_heights(result, lines, pitch)
    return result


def _room(
    forest: Forest, lines: list[Line], numbers: form.Numbers, page: float
) -> tuple[float, dict[str, Column], float, float]:
    """The type size and the columns that leave enough room for the plot; the widths of the labels and of the plot."""
    column_width = "single column" if forest.single else "double column"
    names = [
        name
        for name in _LEFT + _RIGHT
        if forest.shows(name) and (name == "effect" or any(name in line.cells for line in lines))
    ]
    choices = [(size, names) for size in SIZES]
    for dropped in _DROP:
        names = [name for name in names if name != dropped]
        choices.append((SIZES[-1], names))
    for size, names in choices:
        columns = {name: _column(_heading(name, forest, numbers), name, lines, size) for name in names}
        paired = [columns[name] for name in ("means", "judged") if name in columns]
        if len(paired) == 1:  # "control → treatment" stands over it
            paired[0].widen(width("control → treatment", size))
        task = _task_width(lines, size, page * _TASK[column_width])
        plot = page - 2 * MARGIN - task - GAP - sum(column.width + GAP for column in columns.values())
        if not set(names) & set(_RIGHT):
            plot -= 2 * size  # half of the last tick's label
        if plot >= _PLOT[column_width]:
            break
    return size, columns, task, plot


def _place(columns: dict[str, Column], names: tuple[str, ...], x: float) -> float:
    """Place those of the columns that are there side by side from x on; return where they end."""
    for name in [name for name in columns if name in names]:
        columns[name].left = x
        x += columns[name].width + GAP
    return x


def _heading(column: str, forest: Forest, numbers: form.Numbers) -> list[str]:
    name_of_effect = forest.effect.SHORT_LABEL if forest.single else forest.effect.LABEL
    interval = form.unbroken(f"{numbers.factor} [{form.percent(forest.alpha)} CI]".strip())
    return {
        "n": ["n"],
        "means": [forest.measure],
        "judged": [forest.looks.judged],
        "effect": [name_of_effect, interval],
        "weight": ["Weight"],
        "p": ["p"],
    }[column]


def _column(heading: list[str], name: str, lines: list[Line], size: float) -> Column:
    """Measure a column: each piece of its cells is aligned at the decimal point, or at its end if it has none."""
    points, x = [], -PIECE_GAP
    for pieces in zip(*(line.cells[name] for line in lines if name in line.cells), strict=True):
        whole = [width(whole_part(piece), size) for piece in pieces]
        points.append(x + PIECE_GAP + max(whole))
        x = points[-1] + max(width(piece, size) - part for piece, part in zip(pieces, whole, strict=True))
    text = [part for line in heading for part in wrap(line, max(x, _HEADING), size, "bold")]
    column = Column(text, points, x)
    column.widen(max(width(line, size, "bold") for line in text))
    return column


def whole_part(text: str) -> str:
    """What stands before the decimal point."""
    return text.split(".")[0]


def _task_width(lines: list[Line], size: float, limit: float) -> float:
    """What the longest task name needs, up to the limit, and never less than the summary's shortest name."""
    kinds = ("task", "undefined", *(("mean", "summary") if any(line.plain for line in lines) else ()))
    widest = max((width(line.label, size, line.bold) for line in lines if line.kind in kinds), default=0)
    return max(min(widest, limit), width("Random effects", size, "bold"))


def _break_labels(place: Layout, lines: list[Line], task: float) -> None:
    """Break every label into the room it has: headings have the page, summaries all before their n or the plot."""
    beside = place.beside
    before_n = place.columns["n"].left - PIECE_GAP - MARGIN if "n" in place.columns else beside
    room = {"heading": place.page - 2 * MARGIN, "task": task, "undefined": task, "summary": before_n}
    for line in lines:
        line.text = wrap(line.label, room.get(line.kind, beside), place.size, line.bold)
        if line.short_label and len(line.text) > 1:
            line.text = wrap(line.short_label, room.get(line.kind, beside), place.size, line.bold)
        if line.kind == "heterogeneity" and len(line.text) > _MOST_BESIDE:
            line.text = wrap(line.label, place.page - 2 * MARGIN, place.size)
        if line.reason:
            line.reason_text = wrap(line.reason, place.page - MARGIN - place.left, place.size)


def _set_heights(place: Layout, lines: list[Line], pitch: float | None) -> None:
    """Set the pitch so that the lines fill at most a page, if they can, and the centre of each line from 0 down."""
    usual, closest = PITCH
    extra = sum(line.rows - 1 for line in lines) * LEADING * place.size
    space = (_PAGE_HEIGHT - extra) / (len(lines) * place.size)
    place.pitch = pitch or min(usual, max(closest, space)) * place.size
    y = 0.0
    for before, line in zip([None, *lines], lines, strict=False):
        first_mean = line.kind == "mean" or (line.kind == "summary" and before is not None and before.kind != "mean")
        if before and (first_mean or line.kind == "heading"):
            y += 0.4 * place.pitch
        line.y = y + place.height(line) / 2
        y += place.height(line)
