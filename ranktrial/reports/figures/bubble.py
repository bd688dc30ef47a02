"""Bubble plots: the effects of tasks over a moderator, with the regression line or the groups' means.

Reads and writes nothing. The area of a bubble is in proportion to the task's weight. Thompson and Higgins (2002), How
should meta-regression analyses be undertaken and interpreted?; Viechtbauer (2010), `regplot`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ranktrial.common.settings import read_record
from ranktrial.common.tables import EFFECTS, read_table
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.comparison import ModerationRecord
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.comparison.moderation import statement
from ranktrial.reports.figures.fonts import font, width, wrap
from ranktrial.reports.figures.forest_layout import axis_ticks
from ranktrial.reports.figures.marks import BAR, DIAMOND, INK, MUTED, SQUARE
from ranktrial.reports.figures.page import sized_page
from ranktrial.statistics.effects import effect_named
from ranktrial.statistics.moderation import FittedModel

SIZE = 7.0  # of the type, in points
LEADING = 1.35 * SIZE
MARGIN, GAP, TICKS, INDENT = 4.0, 14.0, 17.0, 8.0  # points: at the edge, between parts, of the x axis's numbers
PANEL, HEIGHT, NAMES = 250.0, 180.0, 150.0  # points: width and height of the plot, and the widest column of names
LARGEST = 22.0  # points: the diameter of the largest bubble
GROUP = 0.36  # half the width of a group's mean, where groups are 1 apart
BEYOND = 0.8  # of the height that the bubbles take: how far above and below them an interval is drawn


@dataclass(frozen=True)
class Settings(Typeset):
    """The content of the figure and its labels."""

    moderator: Annotated[str, "name of the moderator"]
    measure: str
    labels: Annotated[Labels, "labels of tasks and systems that have one"]


def filled(table: pd.DataFrame, record: ModerationRecord, settings: Settings) -> BubblePlot:
    """The plot with its numbers; `table` is the effects file. Without a model the areas are the summary's weights."""
    label = record.labels[settings.moderator]
    model = next(one for one in record.models if one.moderators == (label,))
    rows = {row["task"]: row for row in table.to_dict("records") if pd.notna(row["effect"])}
    weights = model.fit.weights if model.fit else {task: row["weight"] for task, row in rows.items()}
    bubbles = tuple(
        Bubble(settings.labels.task(task), record.values[task][settings.moderator], row["effect"], weights[task])
        for task, row in rows.items()
    )
    notes = [statement(model, record.alpha)]
    if model.fit:
        what = "Line and band: the mean effect" if model.fit.line else "Lines and bands: the mean effect of each group"
        notes.append(f"{what} and its {form.percent(record.alpha)} CI. Area of a bubble: the task's weight.")
    axis = effect_named(record.effect_type).AXIS.format(measure=settings.measure)
    return BubblePlot(label, axis, bubbles, fitted(model.fit), tuple(notes))


def fitted(fit: FittedModel | None) -> tuple[Fitted, ...]:
    """The mean effect along the line of a model, or of each of its levels."""
    if fit is None:
        return ()
    if fit.line:
        return tuple(Fitted(at.x, at.effect, at.ci_low, at.ci_high) for at in fit.line)
    of_levels = {word: level.summary for word, level in (fit.levels or {}).items()}
    return tuple(Fitted(word, one.effect, one.ci_low, one.ci_high) for word, one in of_levels.items())


def draw(effects: Path, moderators: Path, settings: Settings) -> Figure:
    """Draw effects (effects/{comparison}.tsv) over one of the moderators of moderators/{comparison}.json."""
    return bubble_plot(filled(read_table(effects, *EFFECTS), read_record(ModerationRecord, moderators), settings))


@dataclass(frozen=True)
class Bubble:
    """A task: its value of the moderator (a number or a word), effect, and weight."""

    task: str
    value: float | str
    effect: float
    weight: float


@dataclass(frozen=True)
class Fitted:
    """The fitted effect and its interval at a value of the moderator."""

    value: float | str
    effect: float
    low: float
    high: float


@dataclass(frozen=True)
class BubblePlot:
    """What the figure shows; `fitted` is empty if no model was fitted. Categorical values are drawn side by side."""

    moderator: str
    axis: str
    bubbles: tuple[Bubble, ...]
    fitted: tuple[Fitted, ...]
    notes: tuple[str, ...]


Limits = tuple[float, float]


@dataclass(frozen=True)
class _Layout:
    """Texts broken into lines, and lengths in points: of the panel, of what stands below it and of the page."""

    words: list[str]
    names: list[list[str]]
    x_label: list[str]
    y_label: list[str]
    notes: list[str]
    limits: tuple[Limits, Limits]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    height: float
    left: float
    names_width: float
    page: float

    @property
    def below(self) -> float:
        """From the panel to its notes."""
        tick_lines = max(label.count("\n") + 1 for _, label in self.x_ticks)
        return TICKS + (tick_lines - 1 + len(self.x_label)) * LEADING

    @property
    def foot(self) -> float:
        """The height of the notes."""
        return MARGIN + len(self.notes) * LEADING + 0.8 * SIZE

    @property
    def total(self) -> float:
        """The height of the page."""
        return MARGIN + self.height + self.below + self.foot


def bubble_plot(plot: BubblePlot) -> Figure:
    """Draw a bubble plot at its final size, with a key of the tasks to its right and the notes below."""
    layout = _layout(plot)
    page, total = layout.page, layout.total
    with sized_page(page, total) as figure:
        bottom = (layout.foot + layout.below) / total
        _panel(figure.add_axes((layout.left / page, bottom, PANEL / page, layout.height / total)), plot, layout)
        _texts(figure, layout)
    return figure


def _layout(plot: BubblePlot) -> _Layout:
    words = list(dict.fromkeys(bubble.value for bubble in plot.bubbles if isinstance(bubble.value, str)))
    names = [wrap(f"{number}\N{EN SPACE}{bubble.task}", NAMES, SIZE) for number, bubble in enumerate(plot.bubbles, 1)]
    height = max(HEIGHT, LEADING * sum(map(len, names)))
    x_limits, y_limits = _limits(plot, words)
    y_ticks = axis_ticks(y_limits, height, SIZE, 0)
    y_label = wrap(plot.axis, height, SIZE)
    left = MARGIN + len(y_label) * LEADING + max(width(label, SIZE) for _, label in y_ticks) + 8
    names_width = INDENT + max(width(part, SIZE) for parts in names for part in parts)
    page = left + PANEL + GAP + names_width + MARGIN
    return _Layout(
        words=words,
        names=names,
        x_label=wrap(plot.moderator, PANEL, SIZE),
        y_label=y_label,
        notes=[line for note in plot.notes for line in wrap(note, page - 2 * MARGIN, SIZE)],
        limits=(x_limits, y_limits),
        x_ticks=_word_ticks(words) if words else axis_ticks(x_limits, PANEL, SIZE, 0),
        y_ticks=y_ticks,
        height=height,
        left=left,
        names_width=names_width,
        page=page,
    )


def _panel(ax: Axes, plot: BubblePlot, layout: _Layout) -> None:
    """The bubbles, the fitted line or means, and both axes."""
    words = layout.words
    ax.set(xlim=layout.limits[0], ylim=layout.limits[1])
    ax.axhline(0, color=MUTED, linewidth=0.6, zorder=1)
    (_draw_groups if words else _draw_line)(ax, plot, words)
    _draw_bubbles(ax, plot, words, layout.height)
    ax.set_xticks(*zip(*layout.x_ticks, strict=True), parse_math=False)
    ax.set_yticks(*zip(*layout.y_ticks, strict=True))
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["bottom", "left"]].set_linewidth(0.6)
    ax.tick_params(width=0.6, length=2.5)


def _texts(figure: Figure, layout: _Layout) -> None:
    """The key of the tasks, the labels of both axes and the notes."""
    page, total, foot = layout.page, layout.total, layout.foot

    def write(line: str, x: float, y: float, **looks: str | float) -> None:
        line = line.replace("\N{NO-BREAK SPACE}", " ")
        figure.text(x / page, y / total, line, fontproperties=font(SIZE), color=INK, parse_math=False, **looks)

    y = total - MARGIN - SIZE
    for parts in layout.names:
        for position, part in enumerate(parts):
            write(part, page - MARGIN - layout.names_width + (INDENT if position else 0), y)
            y -= LEADING
    middle = foot + layout.below + layout.height / 2
    for position, line in enumerate(layout.y_label):
        write(line, MARGIN + (position + 0.5) * LEADING, middle, rotation=90, ha="center", va="center")
    for position, line in enumerate(layout.x_label):
        y = foot + (len(layout.x_label) - position - 1) * LEADING + 0.5 * SIZE
        write(line, layout.left + PANEL / 2, y, ha="center")
    for position, line in enumerate(layout.notes):
        write(line, MARGIN, foot - 1.4 * SIZE - position * LEADING)


def _word_ticks(words: list[str]) -> list[tuple[float, str]]:
    """The ticks of words, 1 apart, each broken into lines that fit."""
    return [(place, "\n".join(wrap(word, PANEL / len(words) - 4, SIZE))) for place, word in enumerate(words)]


def _limits(plot: BubblePlot, words: list[str]) -> tuple[Limits, Limits]:
    """The limits of both axes: they include 0, all bubbles, and the interval unless it is far wider."""
    effects = [0.0, *(bubble.effect for bubble in plot.bubbles), *(point.effect for point in plot.fitted)]
    low, high = min(effects), max(effects)
    room = (high - low) or 1.0
    bottom = max(low - BEYOND * room, min([low, *(point.low for point in plot.fitted)]))
    top = min(high + BEYOND * room, max([high, *(point.high for point in plot.fitted)]))
    space = 0.65 * LARGEST / HEIGHT * (top - bottom)
    y_limits = bottom - space, top + space
    if words:
        return (-0.5, len(words) - 0.5), y_limits
    values = [float(bubble.value) for bubble in plot.bubbles]
    space = ((max(values) - min(values)) or 1.0) * LARGEST / PANEL
    return (min(values) - space, max(values) + space), y_limits


def _draw_line(ax: Axes, plot: BubblePlot, words: list[str]) -> None:
    """The regression line with its interval as a band."""
    x = [float(point.value) for point in plot.fitted]
    ax.fill_between(x, [p.low for p in plot.fitted], [p.high for p in plot.fitted], color=BAR, linewidth=0, zorder=0.5)
    ax.plot(x, [point.effect for point in plot.fitted], color=DIAMOND, linewidth=1.2, zorder=2)


def _draw_groups(ax: Axes, plot: BubblePlot, words: list[str]) -> None:
    """Each group's mean as a line with its interval as a band."""
    for point in plot.fitted:
        x = words.index(str(point.value))
        ends = [x - GROUP, x + GROUP]
        ax.fill_between(ends, [point.low] * 2, [point.high] * 2, color=BAR, linewidth=0, zorder=0.5)
        ax.plot(ends, [point.effect] * 2, color=DIAMOND, linewidth=1.2, zorder=2, solid_capstyle="butt")


def _draw_bubbles(ax: Axes, plot: BubblePlot, words: list[str], height: float) -> None:
    """The bubbles, the small ones in front, each with its number at the freest place beside it."""
    most = max(bubble.weight for bubble in plot.bubbles)
    places = _places(plot.bubbles, words)
    diameters = [LARGEST * math.sqrt(max(bubble.weight, 0.0) / most) for bubble in plot.bubbles]
    order = sorted(range(len(places)), key=lambda number: -diameters[number])
    for depth, number in enumerate(order):
        x, y = places[number]
        ax.plot([x], [y], marker="o", markersize=diameters[number], markerfacecolor=SQUARE, markeredgecolor=DIAMOND,
                markeredgewidth=0.6, alpha=0.85, zorder=3 + depth / 100, gid=f"bubble-{number + 1}")  # fmt: skip
    for number, (dx, dy) in enumerate(_label_offsets(ax, height, places, diameters)):
        ax.annotate(str(number + 1), places[number], (dx, dy), textcoords="offset points", ha="center",
                    va="center_baseline", fontsize=SIZE - 1, zorder=6, color=INK)  # fmt: skip


def _places(bubbles: tuple[Bubble, ...], words: list[str]) -> list[tuple[float, float]]:
    """The places of bubbles; those with the same word are side by side."""
    placed = []
    for number, bubble in enumerate(bubbles):
        if isinstance(bubble.value, str):
            members = [other for other, one in enumerate(bubbles) if one.value == bubble.value]
            step = 2 * (GROUP - 0.06) / max(len(members), 3)
            offset = (members.index(number) - (len(members) - 1) / 2) * step
            placed.append((words.index(bubble.value) + offset, bubble.effect))
        else:
            placed.append((bubble.value, bubble.effect))
    return placed


def _label_offsets(
    ax: Axes, height: float, places: list[tuple[float, float]], diameters: list[float]
) -> list[tuple[float, float]]:
    """The offset of each bubble's number from its centre, in points: inside it, or the freest place beside it."""
    (x_low, x_high), (y_low, y_high) = ax.get_xlim(), ax.get_ylim()
    points = [((x - x_low) / (x_high - x_low) * PANEL, (y - y_low) / (y_high - y_low) * height) for x, y in places]
    taken = [(*point, diameter / 2) for point, diameter in zip(points, diameters, strict=True)]
    offsets = []
    for number, (x, y) in enumerate(points):
        reach = diameters[number] / 2 + 5.0
        around = [(reach * math.cos(turn), reach * math.sin(turn)) for turn in np.linspace(0, 2 * math.pi, 12, False)]
        others = [circle for other, circle in enumerate(taken) if other != number]

        def freedom(offset: tuple[float, float], x: float = x, y: float = y, others: list = others) -> float:
            gaps = [math.hypot(x + offset[0] - cx, y + offset[1] - cy) - radius - 4.0 for cx, cy, radius in others]
            return min([*gaps, 0.0])

        choices = [(0.0, 0.0), *around] if diameters[number] >= 10 else around
        best = max(choices, key=freedom)
        offsets.append(best)
        taken.append((x + best[0], y + best[1], 3.0))
    return offsets
