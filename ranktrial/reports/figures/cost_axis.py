"""The axis of costs: logarithmic or linear, with a strip for systems without costs; reads and writes nothing.

All places are points from the panel's left edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ranktrial.reports.figures.cost_data import Cost
from ranktrial.reports.figures.forest_axis import axis_ticks
from ranktrial.reports.figures.measured_text import width

PITCH = 9.0  # between two systems that cost nothing
EDGE = 8.0  # inside the panel's frame, and between the strip and the rest
WIDE = 5.0  # a ratio of the highest cost to the lowest from which on the axis is logarithmic, with two ticks or more
NARROW = 0.4  # the least range of an axis, as a share of its middle: equal costs but for noise stand close together
STEPS = ((1, 2, 5), (1, 3), (1,))  # ticks in a power of ten


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
