"""The training loss over the steps, a panel per model and recipe, a line per seed; reads and writes nothing."""

from __future__ import annotations

import math
from itertools import cycle

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ranktrial.reports.figures.curves import LOOKS
from ranktrial.reports.figures.forest import STYLE
from ranktrial.reports.figures.panel import PAGE, SIZE

Lines = dict[str, dict[str, list[tuple[float, float]]]]  # title of a panel -> seed -> points
COLUMNS, HEIGHT = 2, 1.9  # panels side by side; the height of a row in inches


def losses(lines: Lines) -> Figure:
    """Draw the panels, each on its own scale."""
    rows = math.ceil(len(lines) / COLUMNS)
    with matplotlib.rc_context(STYLE | {"font.size": SIZE, "axes.linewidth": 0.6, "axes.titlesize": SIZE}):
        figure = Figure(figsize=(PAGE / 72, HEIGHT * rows), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        for ax, (title, of_seeds) in zip(axes, lines.items(), strict=False):
            for (seed, points), (colour, _) in zip(of_seeds.items(), cycle(LOOKS), strict=False):
                ax.plot(*zip(*points, strict=True), color=colour, linewidth=0.8, label=seed,
                        marker="o" if len(points) == 1 else "", markersize=3)  # fmt: skip
            ax.set_title(title, loc="left", weight="bold")
            ax.set(xlabel="Step", ylabel="Loss")
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            ax.tick_params(width=0.6, length=2.5)
            ax.spines[["top", "right"]].set_visible(False)
            if len(of_seeds) > 1:
                ax.legend(frameon=False, fontsize=SIZE - 1, ncols=2)
        for ax in axes[len(lines) :]:
            ax.set_visible(False)
    return figure
