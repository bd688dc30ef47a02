"""The differences of all queries of a comparison, one row per task: sorted, as a raincloud, and counts of wins.

Reads and writes nothing. Drawn in points, with the type of the forest plots. A raincloud is the density of the
differences, a box of their quartiles with the median and the mean, and below it the queries (Allen, Poggiali, Whitaker,
Marshall, van Langen and Kievit 2021, Raincloud plots, Wellcome Open Research 4:63). Gain and loss differ in lightness
as well as in hue.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from scipy import stats

from ranktrial.common.projection import filled
from ranktrial.common.tables import read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.ir.nouns import Nouns, nouns_of
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.fonts import width, wrap
from ranktrial.reports.figures.forest_layout import MARGIN
from ranktrial.reports.figures.marks import DIAMOND, FAINT, INK, MUTED, rule, text
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

NAMES = 96.0  # the widest column of names
GAP = 14.0
ROWS = (58.0, 44.0)  # the height of a row: usual, and with many tasks
MANY = 8  # tasks
COUNTS = 92.0  # the width of the last column
GAIN, LOSS = DIAMOND, "#d98a3d"
MOST_POINTS = 200  # of a row: more queries are drawn by evenly spaced quantiles
MOST_STEPS = 400  # of a sorted curve
GRID = 200  # points of a density
DEGENERATE = 1e-9  # of the range of the axis: a spread below it has no density


@dataclass(frozen=True, kw_only=True)
class Settings(Typeset):
    """The names in the figure."""

    measure: Annotated[str, "of the differences"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    lower_is_better: Annotated[bool, "of the measure: a query is won by the lower value"] = False
    of_tasks: Annotated[bool, "a value is the score of a task of a leaderboard, not of a query"] = False
    control: Annotated[str, "the control's label"]
    treatment: Annotated[str, "the treatment's label"]
    labels: Annotated[Labels, "labels of tasks that have one"]


def queries_data(differences: pd.DataFrame, table: pd.DataFrame, settings: Settings) -> QueriesPlot:
    """What the figure shows, from the differences and the table of counts."""
    nouns = nouns_of(settings.measure, settings.of_tasks)
    by_task = {task: rows["difference"].to_numpy() for task, rows in differences.groupby("task", sort=False)}
    tasks = tuple(
        TaskQueries(
            task=settings.labels.task(row["task"]),
            differences=by_task[row["task"]],
            **{name: row[name] for name in ("wins", "ties", "losses", "superiority", "ci_low", "ci_high")},
        )
        for row in table.to_dict("records")
    )
    title = f"{nouns.queries.capitalize()}: {settings.treatment} against {settings.control}"
    return filled(QueriesPlot, settings, title=title, nouns=nouns, tasks=tasks)


def draw(differences: Path, table: Path, settings: Settings) -> Figure:
    """Draw tables/query-differences/{comparison}.tsv, with the counts of tables/queries/{comparison}.tsv."""
    of_queries, counts = (read_table(path, "task", "query_id") for path in (differences, table))
    return queries_plot(queries_data(of_queries, counts, settings))


@dataclass(frozen=True)
class TaskQueries:
    """One task: the treatment's `differences` to the control, shape (n,), its counts and probability of superiority."""

    task: str
    differences: np.ndarray
    wins: int
    ties: int
    losses: int
    superiority: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True)
class QueriesPlot:
    """What the figure shows. `nouns`: of the differences. `lower_is_better`: a difference below 0 is a gain."""

    title: str
    measure: str
    nouns: Nouns
    treatment: str
    tasks: tuple[TaskQueries, ...]
    alpha: float
    lower_is_better: bool = False


def queries_plot(plot: QueriesPlot) -> Figure:
    """Draw the rows at their final size; the height follows the number of tasks."""
    return titled_page(plot.title, lambda ax, y: _rows(ax, plot, y))


def _rows(ax: Axes, plot: QueriesPlot, top: float) -> float:
    limits = limits_of([float(end) for task in plot.tasks for end in (task.differences.min(), task.differences.max())])
    height = ROWS[0] if len(plot.tasks) <= MANY else ROWS[1]
    names = [wrap(task.task, NAMES, SIZE) for task in plot.tasks]
    left = MARGIN + max(width(line, SIZE) for lines in names for line in lines)
    left = max(left, MARGIN + width("n = 00,000", SIZE)) + GAP
    left += label_width(Scale(height, 0, limits), SIZE)
    counts = PAGE - MARGIN - COUNTS
    rain_start = left + 0.42 * (counts - left - 2 * GAP) + GAP
    queries, rain = Scale(left, rain_start - GAP, (0.0, 1.0)), Scale(rain_start, counts - GAP, limits)
    several = plot.nouns.queries
    heads = {
        left: "Sorted differences",
        rain.start: f"Density, quartiles, {several}",
        counts: f"{several.capitalize()} won, tied, lost",
    }
    for x, head in heads.items():
        text(ax, x, top + 0.6 * SIZE, head, SIZE, weight="bold")
    y = top + 2 * SIZE
    bottom = y + height * len(plot.tasks)
    ax.plot([rain.at(0)] * 2, [y, bottom], color=MUTED, linewidth=0.6, zorder=1)
    for task, lines in zip(plot.tasks, names, strict=True):
        _name(ax, [*lines, f"n = {len(task.differences):,}"], y + height / 2)
        upwards = Scale(y + 0.94 * height, y + 0.06 * height, limits)
        axis_left(ax, upwards, queries.start, SIZE)
        _sorted(ax, task, plot, queries, upwards)
        _raincloud(ax, task, plot, rain, y, height)
        _counts(ax, task, plot, counts, y + height / 2)
        y += height
    percent = Scale(queries.start, queries.end, (0.0, 100.0))
    ends = (
        axis_below(ax, percent, bottom, SIZE, f"% of {several}"),
        axis_below(ax, rain, bottom, SIZE, f"Difference in {plot.measure}"),
    )
    return _notes(ax, plot, max(ends) + 2)


def _notes(ax: Axes, plot: QueriesPlot, y: float) -> float:
    """How to read the figure, below it; returns where it ends."""
    one = plot.nouns.query
    side = "below" if plot.lower_is_better else "above"
    notes = [
        f"A {one} is won by {plot.treatment} where the difference is {side} 0. Box: quartiles; white line: median; "
        "diamond: mean.",
        f"Last column: the probability that {plot.treatment} wins a {one}, ties half, with its "
        f"{form.percent(plot.alpha)} interval (seeds as given).",
    ]
    if any(len(task.differences) > MOST_POINTS for task in plot.tasks):
        more = f"Of more than {MOST_POINTS} {plot.nouns.queries}"
        notes.append(f"{more}, {MOST_POINTS} evenly spaced quantiles are drawn as points.")
    return draw_notes(ax, notes, PAGE, SIZE, LEADING, y)


def _name(ax: Axes, lines: list[str], middle: float) -> None:
    for position, line in enumerate(lines):
        color = MUTED if position == len(lines) - 1 else INK
        text(ax, MARGIN, middle + (position - (len(lines) - 1) / 2) * LEADING * SIZE, line, SIZE, color=color)


def _color(value: float, plot: QueriesPlot) -> str:
    return LOSS if (value < 0) != plot.lower_is_better else GAIN


def _sorted(ax: Axes, task: TaskQueries, plot: QueriesPlot, queries: Scale, upwards: Scale) -> None:
    """The differences from the largest to the smallest, as an area on both sides of 0."""
    values = quantiles(task.differences, MOST_STEPS)[::-1]
    zero = upwards.at(0)
    edges = np.linspace(0, 1, len(values) + 1)
    for sign in (1, -1):
        shown = np.flatnonzero(values * sign > 0)
        if len(shown):
            points = [(queries.at(edges[shown[0]]), zero)]
            for place in shown:
                y = upwards.at(float(values[place]))
                points += [(queries.at(edges[place]), y), (queries.at(edges[place + 1]), y)]
            points.append((queries.at(edges[shown[-1] + 1]), zero))
            ax.add_patch(Polygon(points, facecolor=_color(sign, plot), edgecolor="none", zorder=2, gid="sorted"))
    rule(ax, queries.start, queries.end, zero, 0.6, MUTED)


def _raincloud(ax: Axes, task: TaskQueries, plot: QueriesPlot, rain: Scale, y: float, height: float) -> None:
    """The density above, the box in the middle, and the queries below."""
    base, box, drops = y + 0.52 * height, y + 0.62 * height, (y + 0.73 * height, y + 0.95 * height)
    grid, density = density_of(task.differences, rain.limits)
    if len(grid):
        heights = base - 0.44 * height * density / density.max()
        points = [(rain.at(grid[0]), base), *((rain.at(x), h) for x, h in zip(grid, heights, strict=True))]
        points.append((rain.at(grid[-1]), base))
        ax.add_patch(Polygon(points, facecolor=FAINT, edgecolor="none", zorder=2, gid="density"))
    first, median, third = (rain.at(float(value)) for value in np.quantile(task.differences, (0.25, 0.5, 0.75)))
    half = 0.05 * height
    whole = Rectangle(
        (first, box - half), third - first, 2 * half, facecolor=INK, edgecolor=INK, linewidth=0.6, zorder=3
    )
    ax.add_patch(whole)
    ax.plot([median] * 2, [box - half, box + half], color="white", linewidth=1.0, solid_capstyle="butt", zorder=4)
    mean = rain.at(float(task.differences.mean()))
    diamond = [(mean - 2.6, box), (mean, box - 2.6), (mean + 2.6, box), (mean, box + 2.6)]
    ax.add_patch(Polygon(diamond, facecolor="white", edgecolor=INK, linewidth=0.7, zorder=5, gid="mean"))
    values = quantiles(task.differences, MOST_POINTS)
    spread = (np.arange(len(values)) * 0.6180339887498949) % 1  # even, the same each time, and not in the values' order
    colors = [FAINT if value == 0 else _color(value, plot) for value in values]
    places = drops[0] + spread * (drops[1] - drops[0])
    ax.scatter([rain.at(float(value)) for value in values], places, s=2.2, c=colors, linewidths=0, alpha=0.7, zorder=3)


def _counts(ax: Axes, task: TaskQueries, plot: QueriesPlot, left: float, middle: float) -> None:
    """The wins, ties and losses as a bar and as numbers, and the probability of superiority below."""
    n, x = len(task.differences), left
    y = middle - LEADING * SIZE
    for count, color in ((task.wins, GAIN), (task.ties, FAINT), (task.losses, LOSS)):
        part = count / n * (COUNTS - 2)
        ax.add_patch(Rectangle((x, y - 3), part, 6, facecolor=color, edgecolor="none", gid="counts"))
        x += part
    text(ax, left, middle + 0.1 * SIZE, f"{task.wins:,} / {task.ties:,} / {task.losses:,}", SIZE)
    low, high = form.fixed(task.ci_low, 2), form.fixed(task.ci_high, 2)
    said = f"{form.fixed(task.superiority, 2)} [{low}, {high}]"
    text(ax, left, middle + 1.3 * SIZE, said, SIZE)


def quantiles(values: np.ndarray, most: int) -> np.ndarray:
    """The values in ascending order; if there are more than `most`, so many of their evenly spaced quantiles."""
    ordered = np.sort(values)
    if len(ordered) <= most:
        return ordered
    return ordered[((np.arange(most) + 0.5) / most * len(ordered)).astype(int)]


def density_of(values: np.ndarray, limits: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """A Gaussian kernel density (Scott's bandwidth) within the range of the values; empty if they hardly differ."""
    span = limits[1] - limits[0]
    if len(values) < 5 or values.std() < DEGENERATE * span:
        return np.zeros(0), np.zeros(0)
    grid = np.linspace(values.min(), values.max(), GRID)
    return grid, stats.gaussian_kde(quantiles(values, 2000))(grid)
