"""The places of the points' numbers in a plot: beside their points, clear of one another and of other marks.

Reads and writes nothing. All places are in points from the lower left corner of the plot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

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
    for (x, y), width in zip(points, widths, strict=True):
        places = [
            (distance, x + distance * math.cos(angle), y + distance * math.sin(angle))
            for distance in DISTANCES
            for angle in (2 * math.pi * turn / DIRECTIONS for turn in range(DIRECTIONS))
        ]
        boxes = [(distance, around(at, up, width, height)) for distance, at, up in places]
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
