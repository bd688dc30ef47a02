"""Where everything of a forest plot goes: its columns, its axis and its lines, in points; reads and writes nothing.

Widths come from measured text. Where the page is too narrow for all columns the type shrinks first, then the least
needed columns go, so that nothing is ever cut off or set over something else.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass

from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.forest_data import WIDTHS, Forest
from scripts.reports.comparison.lines import Line
from scripts.reports.figures.measured_text import width, wrap

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
_PAGE_HEIGHT = 8.2 * 72  # for the lines; where there are too many they are set closer
_PITCH = (1.9, 1.4)  # of the lines, in font sizes: usual and closest
_CUT = 3.0  # how far beyond everything else an interval is drawn, in median half-widths


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
        """Make the column at least so wide, its cells in the middle."""
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


def layout(forest: Forest, lines: list[Line], numbers: form.Numbers) -> Layout:
    """Choose type size and columns, place them and the axis, and break and place the labels of `lines`."""
    page = WIDTHS[forest.width] * 72
    names = ["effect"]
    if forest.width == "double column":
        names = [name for name in _LEFT + _RIGHT if name == "effect" or any(name in line.cells for line in lines)]
    choices = [(size, names) for size in SIZES]
    for dropped in _DROP:
        names = [name for name in names if name != dropped]
        choices.append((SIZES[-1], names))
    for size, names in choices:
        columns = {name: _column(_heading(name, forest, numbers), name, lines, size) for name in names}
        paired = [columns[name] for name in ("means", "judged") if name in columns]
        if len(paired) == 1:  # "control → treatment" stands over it
            paired[0].widen(width("control → treatment", size))
        task = _task_width(lines, size, page * _TASK[forest.width])
        plot = page - 2 * MARGIN - task - GAP - sum(column.width + GAP for column in columns.values())
        if plot >= _PLOT[forest.width]:
            break
    x = MARGIN + task + GAP
    for name in [name for name in names if name in _LEFT]:
        columns[name].left = x
        x += columns[name].width + GAP
    left, right = x, x + plot
    x += plot + GAP
    for name in [name for name in names if name in _RIGHT]:
        columns[name].left = x
        x += columns[name].width + GAP
    limits = axis_limits(lines)
    result = Layout(page, size, columns, left, right, limits, axis_ticks(limits, plot, size, numbers.exponent))
    _break_labels(result, lines, task)
    _set_heights(result, lines)
    return result


def _heading(column: str, forest: Forest, numbers: form.Numbers) -> list[str]:
    name_of_effect = forest.effect.LABEL if forest.width == "double column" else forest.effect.SHORT_LABEL
    interval = form.unbroken(f"{numbers.factor} [{form.percent(forest.alpha)} CI]".strip())
    return {
        "n": ["n"],
        "means": [forest.measure],
        "judged": [forest.judged],
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
    widest = max((width(line.label, size) for line in lines if line.kind in ("task", "undefined")), default=0)
    return max(min(widest, limit), width("Random effects", size, "bold"))


def _break_labels(place: Layout, lines: list[Line], task: float) -> None:
    """Break every label into the room it has: headings have the page, summaries all that is left of the plot."""
    summary = place.left - GAP - MARGIN
    room = {"heading": place.page - 2 * MARGIN, "task": task, "undefined": task}
    for line in lines:
        line.text = wrap(line.label, room.get(line.kind, summary), place.size, line.bold)
        if line.reason:
            line.reason_text = wrap(line.reason, place.page - MARGIN - place.left, place.size)


def _set_heights(place: Layout, lines: list[Line]) -> None:
    """Set the pitch so that the lines fill at most a page, if they can, and the centre of each line from 0 down."""
    usual, closest = _PITCH
    extra = sum(max(len(line.text), len(line.reason_text)) - 1 for line in lines) * LEADING * place.size
    space = (_PAGE_HEIGHT - extra) / (len(lines) * place.size)
    place.pitch = min(usual, max(closest, space)) * place.size
    y = 0.0
    for before, line in zip([None, *lines], lines, strict=False):
        height = place.pitch + (max(len(line.text), len(line.reason_text)) - 1) * LEADING * place.size
        if before and (line.kind == "summary" or line.kind == "heading"):
            y += 0.4 * place.pitch
        line.y = y + height / 2
        y += height


def axis_limits(lines: list[Line]) -> tuple[float, float]:
    """The axis holds 0, every effect, every diamond's interval, and other intervals unless they are far longer.

    An interval is cut where it goes further beyond the rest than the rest is wide, and than three median half-widths.
    """
    drawn = [line for line in lines if line.low is not None]
    if not drawn:
        return -1.0, 1.0
    core = [0.0] + [line.effect for line in drawn if line.effect is not None]
    core += [end for line in drawn if line.kind in ("subtotal", "summary") for end in (line.low, line.high)]
    half = statistics.median((line.high - line.low) / 2 for line in drawn)
    beyond = max(max(core) - min(core), _CUT * half) or 1.0
    low = max(min(core) - beyond, min([*core, *(line.low for line in drawn)]))
    high = min(max(core) + beyond, max([*core, *(line.high for line in drawn)]))
    padding = 0.04 * ((high - low) or 2.0)
    return low - padding, high + padding


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


def _decimals(value: float) -> int:
    """The decimals that a round number needs."""
    text = f"{value:.10f}".rstrip("0")
    return len(text) - text.index(".") - 1
