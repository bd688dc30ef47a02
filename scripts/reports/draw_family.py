"""Draw the critical-difference diagram of a multiple comparison.

Reads multiple-comparisons/{family}.json and tables/multiple-comparisons/{family}.tsv. Writes
figures/multiple-comparisons/{family}.svg, .pdf and .png.
"""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.common.command_line import run
from ranktrial.experiment.drawing import Typeset
from ranktrial.reports.comparison.families import FoundFamily, notes, read_family, where
from ranktrial.reports.figures.family import Diagram, diagram
from ranktrial.reports.figures.fonts import figure_arguments
from ranktrial.reports.figures.forest import save
from scripts.reports import family_table


@dataclass(frozen=True)
class Settings(family_table.Settings, Typeset):
    """How the figure shows a multiple comparison."""


def filled(found: FoundFamily, title: str) -> Diagram:
    """The diagram over all tasks."""
    lower = ", lower is better" if found.record.lower_is_better else ""
    axis = f"Mean {found.record.measure} {where(found)}{lower}"
    return Diagram(title, axis, found.whole, notes(found))


def main() -> None:
    arguments = figure_arguments(__doc__, "table", "record", settings=Settings)
    settings: Settings = arguments.settings
    found = read_family(arguments.table, arguments.record, settings.labels)
    save(diagram(filled(found, settings.title)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
