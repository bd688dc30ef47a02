"""Draw curves over the number of training queries: one target, or all of them as panels.

Reads curves/{curve}.json. Writes figures/{figure}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.command_line import run
from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.curves import CurvesRecord
from ranktrial.reports.figures.curves import CurvesPlot, Panel, Spot, curves_plot
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from ranktrial.reports.transfer_studies import Curves, all_queries, curve_notes, ends


@dataclass(frozen=True)
class Settings(Typeset):
    """The targets and labels that the figure shows."""

    names: Annotated[Curves, "labels, title and what the bars are"]
    shown: Annotated[list[str], "targets, one panel each"]


def filled(record: CurvesRecord, names: Curves, shown: list[str]) -> CurvesPlot:
    """The figure of some of the targets; a single panel without a title of its own has none."""
    panels = []
    for target in shown:
        curves: dict[str, list[Spot]] = {}
        for point in record.points:
            if point.target == target:
                spot = Spot(point.size, point.mean, *ends(point, names.interval))
                curves.setdefault(point.start, []).append(spot)
        ordered = {start: curves[start] for start in names.starts if start in curves}
        mean = record.baseline[target].mean
        panels.append(Panel(names.targets[target], ordered, mean, all_queries(record, target)))
    return CurvesPlot(
        names.title, record.measure, tuple(panels), names.starts, names.baseline, curve_notes(record, names)
    )


def main() -> None:
    arguments = figure_arguments(__doc__, "record", settings=Settings)
    settings: Settings = arguments.settings
    record = read_record(CurvesRecord, arguments.record)
    figure = curves_plot(filled(record, settings.names, settings.shown))
    save(figure, arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
