"""The influence of each task on a summary, in three panels: the summary without it, Cook's distance, Baujat's plot.

Reads and writes nothing. Drawn in points, with the type and colours of the forest plots. The tasks are numbered; their
numbers are in Baujat's plot. Influential tasks are dark and bold, and have a star.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle

from ranktrial.common.settings import read_record
from ranktrial.common.tables import read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.comparison import MetaRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import MARGIN
from ranktrial.reports.figures.marks import BAR, DIAMOND, INK, MUTED, SQUARE, rule, text, text_centred
from ranktrial.reports.figures.page import (
    LEADING,
    PAGE,
    SIZE,
    Scale,
    axis_below,
    axis_left,
    draw_notes,
    label_width,
    limits_of,
    titled_page,
)
from ranktrial.statistics.effects import effect_named

ROW = 13.0
NAMES = 120.0  # the widest column of names
GAP = 16.0
SHARES = (0.42, 0.20, 0.38)  # of the panels
DIRECTIONS = ((1, 0), (0, -1), (-1, 0), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1))  # where a number may stand
HEIGHTS = (120.0, 190.0)  # of Baujat's plot, at least and at most
RULE = (
    "|DFFITS| > 3 √(1/(k \N{MINUS SIGN} 1)), Cook's distance beyond the median of χ²(1), weight > 3/k or |DFBETAS| > 1"
)


@dataclass(frozen=True, kw_only=True)
class Settings(Typeset):
    """The names in the figure."""

    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def influence_data(table: pd.DataFrame, meta: MetaRecord, settings: Settings) -> InfluencePlot:
    """What the figure shows, from the table and the meta record of a comparison."""
    labels = settings.labels
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    points = tuple(
        Point(
            task=labels.task(row["task"]),
            effect=row["effect_without"],
            ci_low=row["ci_low_without"],
            ci_high=row["ci_high_without"],
            cooks_distance=row["cooks_distance"],
            baujat_x=row["baujat_x"],
            baujat_y=row["baujat_y"],
            influential=row["influential"] == "yes",
        )
        for row in rows
    )
    treatment, control = labels.system(meta.treatment), labels.system(meta.control)
    return InfluencePlot(
        title=f"Influence of each task: {treatment} against {control}",
        effect_label=effect_named(meta.effect_type).AXIS.format(measure=meta.measure),
        points=points,
        alpha=settings.alpha,
        **{end: getattr(meta.summary, end, 0.0) for end in ("effect", "ci_low", "ci_high")},
    )


def draw(table: Path, meta: Path, settings: Settings) -> Figure:
    """Draw the influence of each task (tables/influence/{comparison}.tsv) on the summary (meta/{comparison}.json)."""
    return influence_plot(
        influence_data(read_table(table, "task", "influential"), read_record(MetaRecord, meta), settings)
    )


@dataclass(frozen=True)
class Point:
    """One task: the summary without it with its interval, its diagnostics; None if a number is undefined."""

    task: str
    effect: float
    ci_low: float
    ci_high: float
    cooks_distance: float | None
    baujat_x: float
    baujat_y: float | None
    influential: bool


@dataclass(frozen=True)
class InfluencePlot:
    """What the figure shows: a comparison's tasks (three or more), its summary and interval, the name of the effect."""

    title: str
    effect_label: str
    points: tuple[Point, ...]
    effect: float
    ci_low: float
    ci_high: float
    alpha: float


def influence_plot(plot: InfluencePlot) -> Figure:
    """Draw the three panels at their final size; the height follows the number of tasks."""
    return titled_page(plot.title, lambda ax, y: _panels(ax, plot, y) if plot.points else _nothing(ax, y))


def _nothing(ax: Axes, y: float) -> float:
    """Say why there are no panels."""
    text(ax, MARGIN, y + SIZE, "Fewer than three tasks have an effect: none can be left out.", SIZE, style="italic")
    return y + 2 * SIZE


def _panels(ax: Axes, plot: InfluencePlot, top: float) -> float:
    number_width = width(f"{len(plot.points)} ", SIZE, "bold") + 3
    names = [wrap(point.task + ("*" if point.influential else ""), NAMES, SIZE, "bold") for point in plot.points]
    label = number_width + max(width(line, SIZE, "bold") for lines in names for line in lines)
    room = PAGE - 2 * MARGIN - label - 3 * GAP - SIZE
    starts = [MARGIN + label + GAP]
    for share in SHARES[:2]:
        starts.append(starts[-1] + share * room + GAP)
    without, cook, baujat = zip(starts, SHARES, strict=True)
    heads = ("Summary without the task", "Cook's distance", "Baujat plot")
    for start, head in zip(starts, heads, strict=True):
        text(ax, start, top + 0.6 * SIZE, head, SIZE, weight="bold")
    top += 2 * SIZE
    rows, y = [], top
    for lines in names:
        height = max(ROW, (len(lines) + 0.5) * LEADING * SIZE)
        rows.append(y + height / 2)
        y += height
    least, most = HEIGHTS
    bottom = top + min(max(y - top, least), most) + 2
    _names(ax, plot, names, rows, number_width)
    ends = [
        _without(ax, plot, rows, Scale(without[0], without[0] + without[1] * room, _effect_limits(plot)), top, y + 2),
        _cook(ax, plot, rows, (cook[0], cook[0] + cook[1] * room), top, y + 2),
        _baujat(ax, plot, (baujat[0], baujat[0] + baujat[1] * room), top, bottom),
    ]
    y = max(ends) + 2
    interval = f"{form.percent(plot.alpha)} interval"
    notes = [f"Dotted line and band: the summary of all {len(plot.points)} tasks with its {interval}."]
    notes.append("Baujat plot: both axes are square-root axes; tasks that are too close together have no number there.")
    if any(point.influential for point in plot.points):
        notes.append(f"* influential: {RULE}.")
    return draw_notes(ax, notes, PAGE, SIZE, LEADING, y)


def _names(ax: Axes, plot: InfluencePlot, names: list[list[str]], rows: list[float], number_width: float) -> None:
    for number, (point, lines, y) in enumerate(zip(plot.points, names, rows, strict=True), 1):
        weight = "bold" if point.influential else "normal"
        text(ax, MARGIN + number_width - 5, y, str(number), SIZE, ha="right", weight=weight, color=MUTED)
        text_centred(ax, MARGIN + number_width, y, lines, SIZE, LEADING * SIZE, weight=weight)


def _effect_limits(plot: InfluencePlot) -> tuple[float, float]:
    ends = [end for point in plot.points for end in (point.ci_low, point.ci_high)]
    return limits_of([*ends, plot.ci_low, plot.ci_high])


def _without(ax: Axes, plot: InfluencePlot, rows: list[float], scale: Scale, top: float, bottom: float) -> float:
    """The summary without each task, over that of all tasks."""
    left, middle, right = (scale.at(value) for value in (plot.ci_low, plot.effect, plot.ci_high))
    ax.add_patch(
        Rectangle((left, top), right - left, bottom - top, facecolor=BAR, alpha=0.5, edgecolor="none", zorder=0)
    )
    ax.plot([middle] * 2, [top, bottom], color=DIAMOND, linewidth=0.6, linestyle=(0, (1, 2)), zorder=1)
    ax.plot([scale.at(0)] * 2, [top, bottom], color=MUTED, linewidth=0.6, zorder=1)
    for point, y in zip(plot.points, rows, strict=True):
        rule(ax, scale.at(point.ci_low), scale.at(point.ci_high), y, 0.8)
        _dot(ax, scale.at(point.effect), y, point)
    size = max(abs(end) for end in scale.limits)
    exponent = form.exponent_for(size)
    unit = f" ({form.power_of_ten(exponent)})" if exponent else ""
    return axis_below(ax, scale, bottom, SIZE, plot.effect_label + unit, exponent)


def _cook(
    ax: Axes, plot: InfluencePlot, rows: list[float], ends: tuple[float, float], top: float, bottom: float
) -> float:
    """Cook's distances as bars with a dot at the end."""
    scale = Scale(*ends, limits_of([point.cooks_distance or 0.0 for point in plot.points]))
    ax.plot([scale.start] * 2, [top, bottom], color=INK, linewidth=0.6)
    for point, y in zip(plot.points, rows, strict=True):
        if point.cooks_distance is None:
            text(ax, scale.start + 3, y, "undefined", SIZE, style="italic", color=MUTED)
            continue
        x = scale.at(point.cooks_distance)
        rule(ax, scale.start, x, y, 2.2, _colour(point))
        _dot(ax, x, y, point)
    return axis_below(ax, scale, bottom, SIZE, "Cook's distance")


def _colour(point: Point) -> str:
    return DIAMOND if point.influential else SQUARE


def _dot(ax: Axes, x: float, y: float, point: Point) -> None:
    ax.add_patch(Circle((x, y), 2.4, facecolor=_colour(point), edgecolor=INK, linewidth=0.5, zorder=3))


def _baujat(ax: Axes, plot: InfluencePlot, ends: tuple[float, float], top: float, bottom: float) -> float:
    """What each task adds to the heterogeneity, against what it does to the summary; points bear the tasks' numbers."""
    upwards = Scale(bottom, top, limits_of([point.baujat_y or 0.0 for point in plot.points], padding=0.1), 0.5)
    left = ends[0] + LEADING * SIZE + label_width(upwards, SIZE)
    along = Scale(left, ends[1], limits_of([point.baujat_x for point in plot.points], padding=0.1), 0.5)
    axis_left(ax, upwards, left, SIZE)
    label = "Influence on the summary"
    ax.text(ends[0] + SIZE / 2, (top + bottom) / 2, label, rotation=90, ha="center", va="center", fontsize=SIZE,
            family="DejaVu Sans", color=INK)  # fmt: skip
    places = [(along.at(point.baujat_x), upwards.at(point.baujat_y or 0.0)) for point in plot.points]
    for point, (x, y) in zip(plot.points, places, strict=True):
        _dot(ax, x, y, point)
    for number, (x, y) in free_places(places, (left, ends[1], top, bottom)).items():
        weight = "bold" if plot.points[number - 1].influential else "normal"
        text(ax, x, y, str(number), SIZE, ha="center", weight=weight)
    return axis_below(ax, along, bottom, SIZE, "Squared Pearson residual")


def free_places(
    points: list[tuple[float, float]], box: tuple[float, float, float, float]
) -> dict[int, tuple[float, float]]:
    """For the number of each point (from 1, the outermost first) a place beside it that covers no point and no number.

    `box` is left, right, top and bottom of the panel. A number without such a place is left out.
    """
    half, high = width(str(len(points)), SIZE) / 2 + 1, 0.55 * SIZE
    left, right, top, bottom = box
    free: dict[int, tuple[float, float]] = {}
    outermost = sorted(range(len(points)), key=lambda point: left - points[point][0] + points[point][1] - bottom)
    for point in outermost:
        for reach, (across, down) in itertools.product((1.0, 4.0), DIRECTIONS):
            x, y = points[point][0] + across * (half + 2.4 + reach), points[point][1] + down * (high + 2.4 + reach)
            inside = left + half < x < right + half and top - 2 * high < y < bottom - high
            covers = any(abs(a - x) < half + 2.4 and abs(b - y) < high + 2.4 for a, b in points)
            touches = any(abs(a - x) < 2 * half and abs(b - y) < 2 * high for a, b in free.values())
            if inside and not covers and not touches:
                free[point + 1] = (x, y)
                break
    return free
