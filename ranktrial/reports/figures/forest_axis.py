"""The axis of a forest plot: its limits, its ticks and their labels; reads and writes nothing."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.lines import Line, lines_of
from ranktrial.reports.comparison.looks import Looks
from ranktrial.reports.comparison.reading import Found, Labels, forest
from ranktrial.reports.figures.measured_text import width

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


def common_limits(comparisons: list[Found], looks: Looks, labels: Labels) -> tuple[float, float]:
    """The limits of an axis shared by the figures of all these comparisons.

    They hold tasks and random-effects summaries; what a figure adds by option does not widen all others.
    """
    plain = replace(looks, fixed=False, bayesian=False)
    plots = [forest([comparison], plain, labels) for comparison in comparisons]
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
