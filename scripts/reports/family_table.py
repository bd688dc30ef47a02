"""The page of a multiple comparison: its answer, each system's means and letters, and the differences with intervals.

Reads multiple-comparisons/{family}.json and tables/multiple-comparisons/{family}.tsv. Writes
tables/multiple-comparisons/{family}.md and .tex (booktabs); the differences on single tasks are in the TSV.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.reports.comparison.families import (
    FoundFamily,
    differences,
    heading,
    notes,
    read_family,
    sentence,
    standings,
)
from ranktrial.reports.comparison.reading import Labels
from ranktrial.reports.writing.content import Block, Folded, Items, Paragraph
from ranktrial.reports.writing.printed import write_printed


def content(found: FoundFamily) -> list[Block]:
    """The answer, each system's mean, the notes on the method, and the differences."""
    said = [*notes(found), *found.record.warnings]
    return [Paragraph(sentence(found)), standings(found), Items(said), differences(found)]


def write_family(
    table: Path, record: Path, page: Path, tex: Path, labels: Labels, title: Annotated[str, "of the figure"] = ""
) -> None:
    """Write the page in both formats."""
    found, name = read_family(table, record, labels), page.stem
    in_full = [Folded("The differences on each task, at full precision", [], f"{name}.tsv")] if found.tasks > 1 else []
    write_printed(f"{name}: {heading(found, labels)}", content(found), page, tex, in_full)


if __name__ == "__main__":
    job(write_family)
