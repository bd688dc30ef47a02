"""Draw a bar chart of means, with the systems of one model side by side.

Reads tables/means.tsv. Writes figures/chart-{name}.svg, .pdf and .png.
"""

from __future__ import annotations

import pandas as pd

from ranktrial.common.command_line import run
from ranktrial.common.tables import MEANS, read_table
from ranktrial.experiment.drawing import Chart as Settings
from ranktrial.reports.figures.bars import Bar, BarChart, bar_chart
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save


def bar(means: pd.DataFrame, task: str, system: str, measure: str) -> Bar:
    """A system's mean on a task; `means` has the index (task, system)."""
    value, sd = means.loc[(task, system), [measure, f"{measure} sd"]]
    return Bar(float(value), None if pd.isna(sd) else float(sd))


def filled(means: pd.DataFrame, settings: Settings) -> BarChart:
    """The chart of these settings with its numbers."""
    rows = {
        row: [
            bar(means, group.task, group.systems[row], group.measure) if row in group.systems else None
            for group in settings.bars
        ]
        for row in settings.rows
    }
    name, label = settings.baseline or ("", "")
    lines = [bar(means, group.task, name, group.measure).value for group in settings.bars] if name else []
    return BarChart(settings.title, settings.axis, [group.label for group in settings.bars], rows, label, tuple(lines))


def main() -> None:
    arguments = figure_arguments(__doc__, "means", settings=Settings)
    means = read_table(arguments.means, *MEANS).set_index(["task", "system"])
    save(bar_chart(filled(means, arguments.settings)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
