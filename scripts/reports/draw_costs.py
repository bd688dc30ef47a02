"""Draw what effects cost: each treatment's effect over one control against latency, training time and bytes.

Reads meta/{comparison}.json of the comparisons with that control, and the timing.json of the systems' runs and
checkpoints. Writes figures/cost-{name}.svg, .pdf and .png.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from scripts.common.command_line import parser, run
from scripts.experiment.results_paths import fields_of
from scripts.reports.comparison import number_text as form
from scripts.reports.comparison.reading import Labels
from scripts.reports.costs import Beside, row
from scripts.reports.figures.cost_data import Point, pareto_front, point
from scripts.reports.figures.forest import STYLE, save
from scripts.reports.figures.marks import DIAMOND, INK, MUTED, SQUARE
from scripts.reports.figures.measured_text import font, width, wrap
from scripts.synthesis.effects import effect_named

SIZE = 7.0  # of the type, in points
PAGE, LEFT, GAP, MARGIN = 504.0, 44.0, 14.0, 4.0  # points: two columns of a journal, and the spaces in them
WIDEST, HEIGHT = 190.0, 150.0  # points: the greatest width and the least height of a panel
NAMES = 130.0  # points: the widest column of names
SIZES = {"index_mb": "Index (MB)", "weights_mb": "Weights (MB)"}
LAST_STEP = "Times are of a system's own step: first stages and fused systems are not in them."
TICKS = 5  # at most on the axis of costs


@dataclass(frozen=True)
class Settings:
    """Which systems the figure compares, and where their costs stand."""

    control: Annotated[str, "the control of all comparisons"]
    alpha: Annotated[float, "1 - alpha is the level of confidence"]
    labels: Annotated[dict[str, str], "labels of systems that have one"]
    beside: Annotated[dict[str, Beside], "timing file of a run: those of its checkpoint and its encoding"]
    sizes: Annotated[list[str], "of index_mb and weights_mb those that are drawn"] = field(default_factory=list)
    last_step: Annotated[bool, "whether a system takes the runs of others, whose times are not in its own"] = False


def cost_figure(
    points: list[Point],
    effect_type: str,
    measure: str,
    alpha: float,
    sizes: Sequence[str] = (),
    last_step: bool = False,
) -> Figure:
    """Draw a panel of latency, one of training time where anything was trained, and of sizes; systems are numbered.

    With `last_step` a note says that times leave out the systems whose runs another takes.
    """
    trained = any(point.training_seconds for point in points)
    panels = [("latency_ms", "Median latency of a query (ms)")]
    panels += [("training_seconds", "Training time (s)")] if trained else []
    panels += [(size, SIZES[size]) for size in sizes]
    panels = [("latency_ms", "Median latency (ms)"), *panels[1:]] if len(panels) > 2 else panels  # as they are narrow
    bottom, top = 34.0, 10.0
    labels = [f"{point.label} (control)" if point.is_control else point.label for point in points]
    names = [f"{number}  {label}" for number, label in enumerate(labels, 1)]
    lines = [wrap(name, NAMES, SIZE) for name in names]
    notes = [
        f"whiskers: {form.percent(alpha)} CI",
        "line: Pareto front",
        *(wrap(LAST_STEP, NAMES, SIZE) if last_step else ()),
    ]
    names_width = max(width(part, SIZE) for parts in [*lines, notes] for part in parts)
    key = 1.35 * SIZE * (sum(map(len, lines)) + 3 + len(notes))
    height = max(HEIGHT, key - bottom) + bottom + top
    panel = min(WIDEST, (PAGE - LEFT - names_width - MARGIN) / len(panels) - GAP)
    page = LEFT + len(panels) * (panel + GAP) + names_width + MARGIN
    with matplotlib.rc_context(STYLE | {"font.family": font(SIZE).get_family(), "font.size": SIZE}):
        figure = Figure(figsize=(page / 72, height / 72))
        FigureCanvasAgg(figure)
        for index, (cost, label) in enumerate(panels):
            x = LEFT + index * (panel + GAP)
            box = (x / page, bottom / height, panel / page, (height - bottom - top) / height)
            ax = figure.add_axes(box, sharey=figure.axes[0] if index else None)  # where a panel lacks a system too
            _panel(ax, points, cost)
            ax.set_xlabel(label)
            if index:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel(effect_named(effect_type).AXIS.format(measure=measure))
        x, y = page - MARGIN - names_width, height - top - SIZE
        for parts in lines:
            for position, part in enumerate(parts):
                indent = x + 8 if position else x
                figure.text(indent / page, y / height, part, fontproperties=font(SIZE), parse_math=False)
                y -= 1.35 * SIZE
        y -= 0.6 * SIZE
        for note in notes:
            figure.text(x / page, y / height, note, fontproperties=font(SIZE), color=MUTED)
            y -= 1.35 * SIZE
    return figure


def _panel(ax: Axes, points: list[Point], cost: str) -> None:
    """The points that have this cost, numbered, and their Pareto front as steps."""
    shown = [(number, system) for number, system in enumerate(points, 1) if getattr(system, cost) is not None]
    costs = [getattr(system, cost) for _, system in shown]
    ax.axhline(0, color=MUTED, linewidth=0.6, zorder=1)
    front = pareto_front([(value, system.effect) for value, (_, system) in zip(costs, shown, strict=True)])
    best = [shown[index][1] for index in front]
    ax.step([getattr(system, cost) for system in best], [system.effect for system in best], where="post", color=DIAMOND,
            linewidth=0.8, linestyle=(0, (3, 2)), zorder=2)  # fmt: skip
    marks = {"markersize": 9, "markeredgecolor": DIAMOND, "markeredgewidth": 0.8, "zorder": 4}
    for index, (value, (number, system)) in enumerate(zip(costs, shown, strict=True)):
        ax.plot([value, value], [system.ci_low, system.ci_high], color=INK, linewidth=0.7, zorder=3)
        shape, fill = "s" if system.is_control else "o", SQUARE if index in front else "white"
        ax.plot([value], [system.effect], marker=shape, markerfacecolor=fill, **marks)
        ax.annotate(
            str(number), (value, system.effect), ha="center", va="center_baseline", fontsize=6, zorder=5, color=INK
        )
    _cost_axis(ax, costs)
    ax.margins(y=0.08)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(width=0.6, length=2.5)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: form.minus(f"{value:g}")))


def _cost_axis(ax: Axes, costs: list[float]) -> None:
    """A logarithmic axis with round ticks; where a cost is 0 it begins there, linear up to the least other cost.

    It is linear as a whole where the least other cost is above a tenth of the largest.
    """
    positive = [value for value in costs if value > 0]
    if not positive:
        return
    low, high = min(positive), max(positive)
    plain = FuncFormatter(lambda value, _: f"{value:,g}")
    if min(costs) == 0 and low > high / 10:
        ax.set_xlim(-0.06 * high, 1.08 * high)
        ax.xaxis.set_major_formatter(plain)
        return
    if min(costs) > 0:
        ax.set_xscale("log")
        ax.set_xlim(low / 1.8, high * 1.8)
    else:
        ax.set_xscale("symlog", linthresh=low)
        ax.set_xlim(-0.2 * low, high * 1.8)
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    for digits in ((1, 2, 5), (1, 3), (1,)):
        ticks = [digit * 10.0**power for power in powers for digit in digits]
        ticks = [tick for tick in ticks if (low / 1.8 if min(costs) > 0 else low) <= tick <= high * 1.8]
        if len(ticks) <= TICKS:
            break
    ax.set_xticks([*([0.0] if min(costs) == 0 else []), *ticks])
    ax.xaxis.set_major_formatter(plain)
    ax.xaxis.set_minor_locator(NullLocator())


def main() -> None:
    arguments = parser(__doc__, "meta*", "timing*", "svg", "pdf", "png", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    labels = Labels({}, settings.labels)
    rows: dict[str, list[dict]] = {}
    for path in arguments.timing:
        if str(path) in settings.beside:  # a run's timing; the others are those of its checkpoint
            system = fields_of("run_timing", path)["system"]
            rows.setdefault(system, []).append(row(path, settings.beside[str(path)]))
    metas = [json.loads(Path(path).read_text()) for path in arguments.meta]
    points = []
    if settings.control in rows:
        points.append(point(labels.system(settings.control), rows[settings.control], None))
    for meta in metas:
        if meta["summary"]:
            points.append(point(labels.system(meta["treatment"]), rows[meta["treatment"]], meta["summary"]))
    figure = cost_figure(
        points, metas[0]["effect_type"], metas[0]["measure"], settings.alpha, settings.sizes, settings.last_step
    )
    save(figure, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
