"""The page of a multiple comparison: its answer, each system's means and letters, and the differences with intervals.

Reads multiple-comparisons/{family}.json and tables/multiple-comparisons/{family}.tsv. Writes
tables/multiple-comparisons/{family}.md and .tex (booktabs); the differences on single tasks are in the TSV.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ranktrial.common.command_line import job
from ranktrial.records.facts import Labels
from ranktrial.reports.comparison.families import heading, read_family
from ranktrial.reports.comparison.printed_tables import family_content
from ranktrial.reports.writing.content import Folded
from ranktrial.reports.writing.printed import write_printed


def write_family(
    table: Path, record: Path, page: Path, tex: Path, labels: Labels, title: Annotated[str, "of the figure"] = ""
) -> None:
    """Write the page in both formats."""
    found, name = read_family(table, record, labels), page.stem
    in_full = [Folded("The differences on each task, at full precision", [], f"{name}.tsv")] if found.tasks > 1 else []
    write_printed(f"{name}: {heading(found)}", family_content(found), page, tex, in_full)


if __name__ == "__main__":
    job(write_family)
