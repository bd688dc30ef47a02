"""Draw a plan of a further study: curves for one collection, and contours for several.

Reads tables/study-designs/{plan}.json. Writes figures/study-design-{plan}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ranktrial.common.command_line import run
from ranktrial.common.settings import read_record
from ranktrial.experiment.drawing import Typeset
from ranktrial.records.study_design import PlanRecord
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.figures.contours import contour_figure
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save


@dataclass(frozen=True)
class Settings(Typeset):
    """The names in the figure."""

    labels: Annotated[dict[str, str], "labels of systems that have one"]


def main() -> None:
    arguments = figure_arguments(__doc__, "plan", settings=Settings)
    plan = read_record(PlanRecord, arguments.plan)
    save(contour_figure(plan, Labels({}, arguments.settings.labels)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
