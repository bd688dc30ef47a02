"""Draw a bar chart of means, the systems of one model beside one another.

Reads tables/means.tsv. Writes figures/chart-{name}.svg, .pdf and .png.
"""

from __future__ import annotations

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.reports.figures.bars import Bar, BarChart, bar_chart
from scripts.reports.figures.forest import save


def bar(means: pd.DataFrame, task: str, system: str, measure: str) -> Bar:
    """A system's mean on a task; `means` has the index (task, system)."""
    value, sd = means.loc[(task, system), [measure, f"{measure} sd"]]
    return Bar(float(value), None if pd.isna(sd) else float(sd))


def filled(means: pd.DataFrame, settings: dict) -> BarChart:
    """The chart of these settings (those of scripts.experiment.charts.Chart) with its numbers."""
    bars = settings["bars"]
    rows = {
        row: [
            bar(means, one["task"], one["systems"][row], one["measure"]) if row in one["systems"] else None
            for one in bars
        ]
        for row in settings["rows"]
    }
    name, label = settings["baseline"] or ("", "")
    lines = [bar(means, one["task"], name, one["measure"]).value for one in bars] if name else []
    return BarChart(settings["title"], settings["axis"], [one["label"] for one in bars], rows, label, tuple(lines))


def main() -> None:
    arguments = parser(__doc__, "means", "svg", "pdf", "png").parse_args()
    means = pd.read_csv(arguments.means, sep="\t").set_index(["task", "system"])
    save(bar_chart(filled(means, arguments.settings)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
