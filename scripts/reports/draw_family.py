"""Draw the critical-difference diagram of a multiple comparison.

Reads multiple-comparisons/{family}.json and tables/multiple-comparisons/{family}.tsv. Writes
figures/multiple-comparisons/{family}.svg, .pdf and .png.
"""

from __future__ import annotations

from scripts.common.command_line import parser, run
from scripts.reports.comparison.families import FoundFamily, read_family
from scripts.reports.comparison.family_text import notes, where
from scripts.reports.family_table import Settings
from scripts.reports.figures.family import Diagram, diagram
from scripts.reports.figures.forest import save


def filled(found: FoundFamily, title: str) -> Diagram:
    """The diagram over all tasks."""
    lower = ", lower is better" if found.record.lower_is_better else ""
    axis = f"Mean {found.record.measure} {where(found)}{lower}"
    return Diagram(title, axis, found.whole, notes(found))


def main() -> None:
    arguments = parser(__doc__, "table", "record", "svg", "pdf", "png", settings=Settings).parse_args()
    settings: Settings = arguments.settings
    found = read_family(arguments.table, arguments.record, settings.labels)
    save(diagram(filled(found, settings.title)), arguments.svg, arguments.pdf, arguments.png)


if __name__ == "__main__":
    run(main)
