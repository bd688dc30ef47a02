"""Draw a plan of a further study: curves for one collection, and contours for several.

Reads tables/study-designs/{plan}.json. Writes figures/study-design-{plan}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from scripts.common.command_line import run
from scripts.common.records import read_record
from scripts.experiment.drawing import Typeset
from scripts.records.study_design import PlanRecord
from scripts.reports.comparison.reading import Labels
from scripts.reports.figures.command import figure_arguments
from scripts.reports.figures.contours import contour_figure
from scripts.reports.figures.forest import save


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
