"""Draw what effects cost: each treatment's effect over one control against latency and training time.

Reads meta/{comparison}.json of the comparisons with that control, and the timing.json of the systems' runs and
checkpoints. Writes figures/cost-{name}.svg, .pdf and .png.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from scripts.common.cli import parser
from scripts.common.errors import run
from scripts.reports import forest_format as form
from scripts.reports.comparison_data import Labels
from scripts.reports.cost_data import Point, pareto_front, point
from scripts.reports.costs import row
from scripts.reports.forest import STYLE, save
from scripts.reports.forest_marks import DIAMOND, INK, MUTED, SQUARE
from scripts.reports.forest_text import font, width, wrap

SIZE = 7.0  # of the type, in points
PANEL, HEIGHT, MARGIN = 170.0, 150.0, 6.0  # points: of a panel, its height, and the page's margin
NAMES = 130.0  # points: the widest column of names


def cost_figure(points: list[Point], effect_type: str, measure: str, alpha: float) -> Figure:
    """Draw a panel of latency and, where anything was trained, one of training time; systems are numbered."""
    trained = any(one.training_seconds for one in points)
    panels = [("latency_ms", "Median latency of a query (ms)")]
    panels += [("training_seconds", "Training time (s)")] if trained else []
    left, bottom, top = 44.0, 34.0, 10.0
    names = [f"{number}  {one.label}{' (control)' * one.is_control}" for number, one in enumerate(points, 1)]
    lines = [wrap(name, NAMES, SIZE) for name in names]
    names_width = max(width(part, SIZE) for parts in lines for part in parts)
    key = 1.35 * SIZE * (sum(map(len, lines)) + 5)
    height = max(HEIGHT, key - bottom) + bottom + top
    page = left + len(panels) * (PANEL + 16) + names_width + 14 + MARGIN
    with matplotlib.rc_context(STYLE | {"font.family": font(SIZE).get_family(), "font.size": SIZE}):
        figure = Figure(figsize=(page / 72, height / 72))
        FigureCanvasAgg(figure)
        for index, (cost, label) in enumerate(panels):
            x = left + index * (PANEL + 16)
            box = (x / page, bottom / height, PANEL / page, (height - bottom - top) / height)
            ax = figure.add_axes(box)
            _panel(ax, points, cost)
            ax.set_xlabel(label)
            if index:
                ax.tick_params(labelleft=False)
            else:
                ax.set_ylabel(f"{form.EFFECT_NAMES[effect_type]} in {measure}")
        x, y = page - MARGIN - names_width, height - top - SIZE
        for parts in lines:
            for position, part in enumerate(parts):
                indent = x + 8 * bool(position)
                figure.text(indent / page, y / height, part, fontproperties=font(SIZE), parse_math=False)
                y -= 1.35 * SIZE
        y -= 0.6 * SIZE
        for said in (f"whiskers: {form.percent(alpha)} CI", "line: Pareto front"):
            figure.text(x / page, y / height, said, fontproperties=font(SIZE), color=MUTED)
            y -= 1.35 * SIZE
    return figure


def _panel(ax: Axes, points: list[Point], cost: str) -> None:
    """The points that have this cost, numbered, and their Pareto front as steps."""
    shown = [(number, one) for number, one in enumerate(points, 1) if getattr(one, cost) is not None]
    costs = [getattr(one, cost) for _, one in shown]
    ax.axhline(0, color=MUTED, linewidth=0.6, zorder=1)
    front = pareto_front([(paid, one.effect) for paid, (_, one) in zip(costs, shown, strict=True)])
    best = [shown[index][1] for index in front]
    ax.step([getattr(one, cost) for one in best], [one.effect for one in best], where="post", color=DIAMOND,
            linewidth=0.8, linestyle=(0, (3, 2)), zorder=2)  # fmt: skip
    marks = {"markersize": 9, "markeredgecolor": DIAMOND, "markeredgewidth": 0.8, "zorder": 4}
    for index, (paid, (number, one)) in enumerate(zip(costs, shown, strict=True)):
        ax.plot([paid, paid], [one.ci_low, one.ci_high], color=INK, linewidth=0.7, zorder=3)
        shape, fill = "s" if one.is_control else "o", SQUARE if index in front else "white"
        ax.plot([paid], [one.effect], marker=shape, markerfacecolor=fill, **marks)
        ax.annotate(str(number), (paid, one.effect), ha="center", va="center_baseline", fontsize=6, zorder=5, color=INK)
    positive = [value for value in costs if value > 0]
    if positive:
        if min(costs) > 0:
            ax.set_xscale("log")
        else:
            ax.set_xscale("symlog", linthresh=min(positive))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        low = 0 if min(costs) == 0 else min(costs)
        ax.set_xlim(low / 1.8 if low else -0.4 * min(positive), max(costs) * 1.8)
    ax.margins(y=0.08)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(width=0.6, length=2.5)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: form.minus(f"{value:g}")))


def main() -> None:
    arguments = parser(__doc__, "meta*", "timing*", "figure").parse_args()
    settings = arguments.settings
    labels = Labels({}, settings["labels"])
    rows: dict[str, list[dict]] = {}
    for path in arguments.timing:
        if str(path) in settings["beside"]:  # a run's timing; the others are those of its checkpoint
            rows.setdefault(path.parts[-2], []).append(row(path, settings["beside"][str(path)]))
    metas = [json.loads(Path(path).read_text()) for path in arguments.meta]
    points = []
    if settings["control"] in rows:
        points.append(point(labels.system(settings["control"]), rows[settings["control"]], None))
    for meta in metas:
        if meta["summary"]:
            points.append(point(labels.system(meta["treatment"]), rows[meta["treatment"]], meta["summary"]))
    save(cost_figure(points, metas[0]["effect_type"], metas[0]["measure"], settings["alpha"]), arguments.figure)


if __name__ == "__main__":
    run(main)
