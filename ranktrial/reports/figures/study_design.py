"""The figure of a plan: curves for one collection, and contours over queries x collections for each number of seeds.

Reads and writes nothing. Contours are labelled with the detectable effect or half-width; the shade only orders them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.facts import Labels
from ranktrial.records.study_design import FoundBasis, PlanRecord
from ranktrial.reports.comparison import number_text as form
from ranktrial.reports.figures.fonts import font, width, wrap
from ranktrial.reports.figures.marks import DIAMOND, INK, MUTED
from ranktrial.reports.figures.page import sized_page

SIZE = 7.0  # of the type, in points
PAGE, LEFT, GAP, MARGIN = 504.0, 40.0, 40.0, 4.0  # points: two columns of a journal, and the spaces in them
PANEL = (PAGE - LEFT - GAP - MARGIN - 14.0) / 2  # the width of a panel; half a number stands beside its axis
HEIGHT, BELOW, ABOVE = 140.0, 32.0, 18.0  # points: of a panel, of its axis below and its heading above
LEADING = 1.35
TARGET = "#c8781e"
SHADES = LinearSegmentedColormap.from_list("shades", ["#8fb3d3", "#f4f7fa"])  # the darker, the more a design can show
LINES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)  # of contours in each power of ten
CONTOURS = 9  # at most


@dataclass(frozen=True)
class Settings(Typeset):
    """The names in the figure."""

    labels: Annotated[dict[str, str], "labels of systems that have one"]


def draw(plan: Path, settings: Settings) -> Figure:
    """Draw the plan of a further study (tables/study-designs/{plan}.json)."""
    return contour_figure(read_record(PlanRecord, plan), Labels({}, settings.labels))


def contour_figure(plan: PlanRecord, labels: Labels) -> Figure:
    """Draw a plan at its final size: two panels per row, the first for one collection."""
    curves = plan.curves
    summaries = list(zip(curves.seeds, curves.summary, strict=True)) if curves.collections else []
    rows = -(-(1 + len(summaries)) // 2)
    title, notes = _lines(_title(plan, labels)), _lines(*_notes(plan, labels))
    head = MARGIN + LEADING * SIZE * len(title)
    foot = MARGIN + LEADING * SIZE * len(notes)
    page = head + rows * (ABOVE + HEIGHT + BELOW) + foot
    with sized_page(PAGE, page) as figure:
        for place in range(1 + len(summaries)):
            left = LEFT + (place % 2) * (PANEL + GAP)
            bottom = page - head - (place // 2 + 1) * (ABOVE + HEIGHT + BELOW) + BELOW
            ax = figure.add_axes((left / PAGE, bottom / page, PANEL / PAGE, HEIGHT / page))
            if place == 0:
                _one_collection(ax, plan)
            else:
                _contours(ax, plan, *summaries[place - 1])
            _queries_axis(ax, plan)
        for lines, top in ((title, page - MARGIN), (notes, foot)):
            for number, line in enumerate(lines, 1):
                weight = "bold" if lines is title else "normal"
                y = top - (number * LEADING - 0.35) * SIZE
                properties = font(SIZE, weight)
                figure.text(MARGIN / PAGE, y / page, line, fontproperties=properties, parse_math=False, color=INK)
    return figure


def _lines(*texts: str) -> list[str]:
    return [line for text in texts for line in wrap(text, PAGE - 2 * MARGIN, SIZE)]


def _quantity(plan: PlanRecord) -> str:
    return "smallest detectable effect" if plan.curves.quantity == "detectable" else "expected half-width"


def _title(plan: PlanRecord, labels: Labels) -> str:
    if not isinstance(plan.basis, FoundBasis):
        return plan.plan
    return f"{labels.system(plan.basis.treatment)} against {labels.system(plan.basis.control)}"


def _notes(plan: PlanRecord, labels: Labels) -> list[str]:
    power = f" with {100 * plan.power:.10g}% power" if plan.curves.quantity == "detectable" else ""
    level = f"{form.percent(plan.alpha)} interval" if not power else f"two-sided test at {plan.alpha:g}"
    per = plan.nouns.say("Queries: per collection.")
    notes = [f"{_quantity(plan).capitalize()}{power} ({level}). {plan.basis.axis}. {per}"]
    marks = []
    if (target := target_of(plan)) is not None:
        marks.append(f"Thick line: the target, {target:g}.")
    if plan.present:
        marks.append("Cross: the queries (harmonic mean) and collections of this experiment.")
    if best := [row for row in plan.cheapest.values() if row]:
        fewest = "with the fewest queries" if best[0].hours is None else "the cheapest"
        marks.append(f"Diamond: of the designs considered that meet the target, {fewest}.")
    notes += [plan.nouns.say(" ".join(marks))] if marks else []
    basis = plan.basis
    unknown = [*basis.unknown_seed_variance, *basis.given] if isinstance(basis, FoundBasis) else []
    if unknown:
        names = " and ".join(map(labels.system, unknown))
        notes.append(f"The seed variance of {names} is unknown and not included.")
    return notes


def target_of(plan: PlanRecord) -> float | None:
    """The target effect or half-width; None without a target."""
    return plan.target.effect if plan.target.half_width is None else plan.target.half_width


def _heading(ax: Axes, text: str) -> None:
    ax.set_title(text, loc="left", fontsize=SIZE, color=INK, pad=6)


def _one_collection(ax: Axes, plan: PlanRecord) -> None:
    """The panel of one collection, a line for each number of seeds."""
    curves = plan.curves
    _heading(ax, plan.nouns.say("One collection (paired t-test)"))
    for seeds, values, style in zip(curves.seeds, curves.task, LINES, strict=False):
        ax.plot(curves.queries, values, color=DIAMOND, linewidth=1.0, linestyle=style, label=_seeds(seeds))
    if len(curves.seeds) > 1:
        ax.legend(loc="upper right", frameon=False, fontsize=SIZE, handlelength=3)
    ax.set_xscale("log")
    ax.set_ylim(0, 1.05 * max(max(values) for values in curves.task))
    ax.yaxis.set_major_locator(MaxNLocator(6))
    ax.set_ylabel(_quantity(plan).capitalize())
    ax.spines[["top", "right"]].set_visible(False)
    if (target := target_of(plan)) is not None:
        ax.axhline(target, color=TARGET, linewidth=1.6)
    present = plan.present
    if present and curves.queries[0] <= present.queries <= curves.queries[-1]:
        _cross(ax, present.queries, plan.shown(present.task))
    if best := plan.cheapest["task"]:
        _diamond(ax, best.queries, plan.shown(best.precision))


def _contours(ax: Axes, plan: PlanRecord, seeds: int, values: list[list[float]]) -> None:
    """The panel of several collections with this number of seeds."""
    curves = plan.curves
    x, y = curves.queries, curves.collections
    of_seeds = f", {_seeds(seeds)}" if len(curves.seeds) > 1 else ""
    _heading(ax, plan.nouns.say(f"Over collections (summary){of_seeds}"))
    every = [value for matrix in curves.summary for row in matrix for value in row]
    levels = contour_levels(every)
    ax.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    shades = [SHADES(place / len(levels)) for place in range(len(levels) + 1)]
    ax.contourf(x, y, values, levels=[0.0, *levels, 2 * max(every)], colors=shades)
    targets = [] if target_of(plan) is None else [target_of(plan)]
    _labelled_lines(
        ax, x, y, values, [level for level in levels if not any(_near(level, target) for target in targets)]
    )
    for target in targets:
        if min(map(min, values)) < target < max(map(max, values)):
            ax.contour(x, y, values, levels=[target], colors=TARGET, linewidths=1.6)
    present = plan.present
    if present and x[0] <= present.queries <= x[-1] and y[0] <= present.collections <= y[-1]:
        _cross(ax, present.queries, present.collections)
    best = plan.cheapest["summary"]
    if best and best.seeds == seeds:
        _diamond(ax, best.queries, best.collections)
    ax.set_ylabel(plan.nouns.say("Collections"))
    _round_ticks(ax.yaxis, [row.collections for row in plan.designs if row.collections > 1], HEIGHT)


def _labelled_lines(ax: Axes, x: list[float], y: list[float], values: list[list[float]], levels: list[float]) -> None:
    """Contours with their labels; one in a corner, without room for its label, is not drawn."""
    if not levels:
        return
    drawn = ax.contour(x, y, values, levels=levels)
    place_of: dict[float, Any] = {}
    for level, path in zip(levels, drawn.get_paths(), strict=True):
        if place := label_place(path.vertices, x, y, list(place_of.values())):
            place_of[level] = place
    drawn.remove()
    if place_of:
        lines = ax.contour(x, y, values, levels=list(place_of), colors=INK, linewidths=0.6)
        decimals = max(len(f"{level:.10g}".partition(".")[2]) for level in levels)
        text_of = {level: form.fixed(level, decimals) for level in place_of}
        places = list(place_of.values())
        ax.clabel(lines, fmt=text_of, fontsize=SIZE - 0.5, inline_spacing=3, manual=places)


def _near(level: float, target: float) -> bool:
    """Whether the label of a contour would overlap the line of the target."""
    return abs(math.log(level / target)) < 0.1


def label_place(line: Any, x: list[float], y: list[float], others: list[Any]) -> tuple[float, float] | None:
    """The best point of a contour for its label: away from the frame and from the labels of `others`.

    None if the contour has no such point, as in a corner.
    """

    def share(point: Any) -> tuple[float, float]:
        across, up = (math.log(at / ax[0]) / math.log(ax[-1] / ax[0]) for at, ax in zip(point, (x, y), strict=True))
        return across, up

    taken, clear = [share(other) for other in others], []
    for point in line:
        across, up = share(point)
        inside = 0.1 < across < 0.9 and 0.07 < up < 0.93
        if inside and all(abs(across - at[0]) > 0.16 or abs(up - at[1]) > 0.09 for at in taken):
            clear.append((abs(across - 0.55), tuple(point)))
    return min(clear)[1] if clear else None


def contour_levels(values: list[float]) -> list[float]:
    """Round levels inside the range of the values, with fewer steps per power of ten for a wider range."""
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in (STEPS, (1.0, 1.5, 2.0, 3.0, 5.0, 7.0), (1.0, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        levels = [float(f"{step * 10.0**power:.3g}") for power in powers for step in steps]
        levels = [level for level in levels if low < level < high]
        if len(levels) <= CONTOURS:
            break
    return levels or [float(f"{(low + high) / 2:.3g}")]


def _seeds(number: int) -> str:
    return "1 seed" if number == 1 else f"{number} seeds"


def _cross(ax: Axes, x: float, y: float) -> None:
    halo = [withStroke(linewidth=3.0, foreground="white")]
    ax.plot(
        [x], [y], marker="x", markersize=6, markeredgewidth=1.4, color=INK, zorder=6, path_effects=halo, clip_on=False
    )


def _diamond(ax: Axes, x: float, y: float) -> None:
    ax.plot([x], [y], marker="D", markersize=5.5, markerfacecolor=TARGET, markeredgecolor="white", markeredgewidth=0.8,
            zorder=7, clip_on=False)  # fmt: skip


def _queries_axis(ax: Axes, plan: PlanRecord) -> None:
    """The axis of the numbers of queries of the plan."""
    queries = sorted({row.queries for row in plan.designs})
    ax.set_xlim(queries[0], queries[-1])
    _round_ticks(ax.xaxis, queries, PANEL)
    ax.set_xlabel(plan.nouns.say("Queries"))
    ax.tick_params(width=0.6, length=2.5, color=MUTED)


def _round_ticks(axis: Axis, numbers: list[int], length: float) -> None:
    """Ticks at the numbers of the plan, as many as fit on a logarithmic axis of this length in points."""
    numbers = sorted(set(numbers))
    point = math.log(numbers[-1] / numbers[0]) / length
    upright = axis.axis_name == "y"
    kept: list[int] = []
    for number in numbers:
        room = SIZE + 2 if upright else (width(f"{number}", SIZE) + width(f"{kept[-1] if kept else 0}", SIZE)) / 2 + 4
        if not kept or math.log(number / kept[-1]) / point > room:
            kept.append(number)
    axis.set_major_locator(FixedLocator(kept))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
