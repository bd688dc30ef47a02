"""Bars of the importance of each feature to a ranker, one panel per method, the features in the same order.

Reads the tables of importance (rankers/{source}/{system}/seed-{seed}.importance.tsv), whose mean over the seeds figures
and pages show; writes nothing. Drawn in points, with the type and colours of the forest plots. Each panel has its own
scale: falls of a measure, shares of gain and SHAP values (in units of the score) cannot be compared by length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ranktrial.common.errors import UserError
from ranktrial.common.tables import IMPORTANCE, read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import MARGIN
from ranktrial.reports.figures.marks import DIAMOND, INK, MUTED, SQUARE, rule, text, text_centred
from ranktrial.reports.figures.page import LEADING, PAGE, SIZE, Scale, titled_page

SMALL = 6.0  # points: the type of the values
NAMES, GAP, ROW = 150.0, 14.0, 11.0  # points: the widest column of names, between panels, a feature's row
DECIMALS = 3


@dataclass(frozen=True)
class Settings(Typeset):
    title: Annotated[str, "the figure's title"]
    measure: Annotated[str, "the measure that falls when a feature is shuffled"]


def panels_of(tables: list[pd.DataFrame], measure: str) -> tuple[list[str], list[Panel]]:
    """The features in the order of the figure, and a panel for each column that has numbers: means of the tables."""
    whole = mean_importance(tables)
    panels = [
        Panel(
            f"Permutation: fall of {measure} (± 1 SD of the shuffles)",
            whole["permutation"].tolist(),
            whole["permutation_sd"].tolist(),
        )
    ]
    labels = {"shap": "SHAP: mean |value|, in units of the score", "gain": "Gain: share of all splits' gain"}
    panels += [Panel(label, whole[key].tolist()) for key, label in labels.items() if whole[key].notna().all()]
    return list(whole.index), panels


def draw(tables: list[Path], settings: Settings) -> Figure:
    """Draw the importance of each feature to a ranker, by permutation, gain and SHAP: means of the tables of its seeds.

    Features are in the order of what the measure loses without them.
    """
    if not tables:
        raise UserError("--tables: expected at least one")
    features, panels = panels_of([read_importance(path) for path in tables], settings.measure)
    return importance_chart(settings.title, features, panels)


@dataclass(frozen=True)
class Panel:
    """One way of measuring: one number per feature and, where it was repeated, its standard deviation."""

    label: str
    values: Sequence[float]
    sd: Sequence[float] | None = None


def importance_chart(title: str, features: list[str], panels: list[Panel]) -> Figure:
    """Draw the bars at their final size; the height follows the number of features."""
    names = {name: wrap(name, NAMES, SIZE) for name in features}
    begin = MARGIN + max(width(part, SIZE) for parts in names.values() for part in parts) + SIZE
    room = (PAGE - MARGIN - begin - GAP * (len(panels) - 1)) / len(panels)
    heights = [max(ROW, len(parts) * LEADING * SIZE) for parts in names.values()]

    def draw(ax: Axes, y: float) -> float:
        lefts = [begin + number * (room + GAP) for number in range(len(panels))]
        top = _headings(ax, panels, lefts, room, y)
        middles = [top + sum(heights[:place]) + heights[place] / 2 for place in range(len(features))]
        bottom = top + sum(heights)
        for parts, middle in zip(names.values(), middles, strict=True):
            text_centred(ax, MARGIN, middle, parts, SIZE, LEADING * SIZE)
        for panel, left in zip(panels, lefts, strict=True):
            _panel(ax, panel, _scale(panel, left, room), middles, top, bottom)
        return bottom

    return titled_page(title, draw)


def _headings(ax: Axes, panels: list[Panel], lefts: list[float], room: float, y: float) -> float:
    """What each panel shows, above it; returns where the bars begin."""
    wrapped = [wrap(panel.label, room, SMALL + 0.5) for panel in panels]
    for lines, left in zip(wrapped, lefts, strict=True):
        for number, line in enumerate(lines):
            text(ax, left, y + (number + 0.6) * LEADING * SIZE, line, SMALL + 0.5, color=MUTED)
    bottom = y + max(map(len, wrapped)) * LEADING * SIZE + 3
    rule(ax, MARGIN, PAGE - MARGIN, bottom, 0.6)
    return bottom + 2


def _scale(panel: Panel, left: float, room: float) -> Scale:
    """The panel's scale: it holds 0, all bars with their whiskers, and the numbers at their ends."""
    spread = panel.sd or [0.0] * len(panel.values)
    high = max(0.0, *(value + sd for value, sd in zip(panel.values, spread, strict=True)))
    low = min(0.0, *(value - sd for value, sd in zip(panel.values, spread, strict=True)))
    label = max(width(form.fixed(value, DECIMALS), SMALL) for value in panel.values) + 5
    return Scale(left, left + room - label, (low, high if high > low else low + 1.0))


def _panel(ax: Axes, panel: Panel, scale: Scale, middles: list[float], top: float, bottom: float) -> None:
    """A panel's bars with their numbers, and the line of 0."""
    zero = scale.at(0.0)
    for number, (value, middle) in enumerate(zip(panel.values, middles, strict=True)):
        end = scale.at(value)
        face = SQUARE if value >= 0 else "white"
        ax.add_patch(
            Rectangle(
                (min(zero, end), middle - 0.36 * ROW), abs(end - zero), 0.72 * ROW, facecolor=face,
                edgecolor=DIAMOND, linewidth=0.4, zorder=2,
            )
        )  # fmt: skip
        last = max(zero, end)
        if panel.sd is not None:
            ends = [scale.at(value - panel.sd[number]), scale.at(value + panel.sd[number])]
            ax.plot(ends, [middle, middle], color=INK, linewidth=0.7, zorder=3)
            last = max(last, ends[1])
        text(ax, last + 3, middle, form.fixed(value, DECIMALS), SMALL)
    ax.plot([zero, zero], [top, bottom], color=INK, linewidth=0.6, zorder=4)


def read_importance(path: Path) -> pd.DataFrame:
    """One seed's table."""
    return read_table(path, *IMPORTANCE)


def mean_importance(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """The means of the tables by feature, in the order of what the measure loses without it."""
    whole = pd.concat(tables).groupby("feature", sort=False).mean()
    return whole.sort_values("permutation", ascending=False, kind="stable")
