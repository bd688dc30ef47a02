"""Small line charts as SVG that takes its colours from the page; reads and writes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from markupsafe import Markup

WIDTH, HEIGHT = 320.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 20.0, 10.0, 38.0
GAP = 30.0  # the least distance between two labels of the horizontal axis


@dataclass(frozen=True)
class Line:
    """One line: points (x, y), the range (low, high) at each of them if any, and which of the page's colours it has."""

    label: str
    points: list[tuple[float, float]]
    ranges: list[tuple[float, float]] | None = None
    colour: int = 0
    faint: bool = False


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round values from `low` to `high`, about `most` of them."""
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if span / (factor * power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 12) for place in range(first, last + 1)]


def chart(lines: list[Line], label: str, x_label: str, y_label: str, reference: float | None = None,
          sizes: list[float] | None = None) -> Markup:  # fmt: skip
    """A chart of `lines`; with `sizes`, its ticks, x is logarithmic. `reference`: a dashed level."""
    across = [x for line in lines for x, _ in line.points]
    heights = [y for line in lines for _, y in line.points]
    heights += [end for line in lines for pair in line.ranges or [] for end in pair]
    heights += [] if reference is None else [reference]
    place = math.log10 if sizes else float
    x_low, x_high, y_low, y_high = place(min(across)), place(max(across)), min(heights), max(heights)
    margin = 0.06 * ((y_high - y_low) or abs(y_high) or 1.0)
    y_low, y_high = y_low - margin, y_high + margin

    def x_of(value: float) -> float:
        share = (place(value) - x_low) / (x_high - x_low) if x_high > x_low else 0.5
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y_of(value: float) -> float:
        return TOP + (y_high - value) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

    parts = []
    for value in ticks(y_low, y_high):
        parts.append(Markup('<path class="grid" d="M{} {:.1f}H{}"/>').format(LEFT, y_of(value), WIDTH - RIGHT))
        parts.append(_text(LEFT - 6, y_of(value) + 4, f"{value:g}".replace("-", "\N{MINUS SIGN}"), "end"))
    last = -math.inf
    for value in sorted(set(sizes or ticks(x_low, x_high))):
        if x_of(value) - last >= GAP:
            last = x_of(value)
            parts.append(Markup('<path class="axis" d="M{:.1f} {}v4"/>').format(last, HEIGHT - BOTTOM))
            parts.append(_text(last, HEIGHT - BOTTOM + 16, f"{value:,g}", "middle"))
    parts.append(Markup('<path class="axis" d="M{} {}H{}"/>').format(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_label, "middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = '<text transform="rotate(-90 11 {0:.1f})" x="11" y="{0:.1f}" text-anchor="middle">{1}</text>'
    parts.append(Markup(turned).format(middle, y_label))
    if reference is not None:
        parts.append(Markup('<path class="reference" d="M{} {:.1f}H{}"/>').format(LEFT, y_of(reference), WIDTH - RIGHT))
    for line in lines:
        spots = [(x_of(x), y_of(y)) for x, y in line.points]
        if line.ranges:
            edge = [(x_of(x), y_of(high)) for (x, _), (_, high) in zip(line.points, line.ranges, strict=True)]
            back = [(x_of(x), y_of(low)) for (x, _), (low, _) in zip(line.points, line.ranges, strict=True)]
            parts.append(Markup('<path class="band c{}" d="{}Z"/>').format(line.colour, _path([*edge, *back[::-1]])))
        kind = f"line c{line.colour} faint" if line.faint else f"line c{line.colour}"
        parts.append(Markup('<path class="{}" d="{}"><title>{}</title></path>').format(kind, _path(spots), line.label))
        if len(spots) <= 12:
            dot = Markup('<circle class="dot c{}" cx="{:.1f}" cy="{:.1f}" r="2.5"/>')
            parts += [dot.format(line.colour, x, y) for x, y in spots]
    frame = Markup('<svg class="chart" role="img" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}">')
    return frame.format(label, WIDTH, HEIGHT) + Markup("").join(parts) + Markup("</svg>")


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _path(spots: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
