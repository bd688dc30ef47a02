"""The page of a multiple comparison: its answer, each system's means and letters, and the differences with intervals.

Reads multiple-comparisons/{family}.json and tables/multiple-comparisons/{family}.tsv. Writes
tables/multiple-comparisons/{family}.md and .tex (booktabs); the differences on single tasks stand in the TSV beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.comparison.families import FoundFamily, read_family
from scripts.reports.comparison.family_text import differences_table, heading, notes, sentence, standings_table
from scripts.reports.comparison.reading import Labels, escaped
from scripts.reports.writing.latex import BOOKTABS, aligned, document, tabular
from scripts.reports.writing.markdown import markdown


@dataclass(frozen=True)
class Settings:
    """How a multiple comparison is shown."""

    labels: Annotated[Labels, "labels of tasks and systems that have one"]
    title: Annotated[str, "of the figure"] = ""


def as_markdown(table: tuple[list[str], list[list[str]]]) -> str:
    """Headings and rows in Markdown."""
    headings, rows = table
    return markdown(pd.DataFrame(rows, columns=headings))


def page(name: str, found: FoundFamily, labels: Labels) -> str:
    """The whole page."""
    parts = [f"# {name}: {heading(found, labels)}", sentence(found), as_markdown(standings_table(found))]
    parts += [f"- {said}" for said in (*notes(found), *found.record["warnings"])]
    over = f" over {found.tasks} tasks" if found.tasks > 1 else ""
    parts += [f"## Differences in {found.record['measure']}{over}", as_markdown(differences_table(found))]
    parts.append(f"\\* p (max-T) < {found.record['alpha']:g}")
    if found.tasks > 1:
        parts.append(f"Those on each task, at full precision: [{name}.tsv]({name}.tsv).")
    return "\n\n".join(parts) + "\n"


def latex(found: FoundFamily) -> str:
    """The means with their letters, then the differences."""
    said = [BOOKTABS, sentence(found), *notes(found), *found.record["warnings"]]
    standings, differences = standings_table(found), differences_table(found)
    starred = f"* p (max-T) < {found.record['alpha']:g}"
    return document(
        [
            tabular(aligned(standings[0], words=1), [standings[1]], said),
            tabular(aligned(differences[0], words=2), [differences[1]], [starred]),
        ]
    )


def main() -> None:
    arguments = parser(__doc__, "table", "record", "page", "tex", settings=Settings).parse_args()
    plain, in_markdown = arguments.settings.labels, escaped(arguments.settings.labels)
    with atomic_text(arguments.page) as file:
        file.write(page(arguments.page.stem, read_family(arguments.table, arguments.record, in_markdown), in_markdown))
    with atomic_text(arguments.tex) as file:
        file.write(latex(read_family(arguments.table, arguments.record, plain)))


if __name__ == "__main__":
    run(main)
