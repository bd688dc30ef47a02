"""Many systems at once: each multiple comparison with its diagram, means and differences."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ranktrial.experiment.records import Experiment
from ranktrial.reports.writing.content import Block
from scripts.reports.planning import family_files
from scripts.reports.sections import Report, comparisons

if TYPE_CHECKING:
    from ranktrial.reports.comparison.families import FoundFamily

NAME, PLACE = "families", 70


def inputs(experiment: Experiment) -> dict[str, list[str]]:
    """The table and record of each."""
    return {
        "families": family_files(experiment, "family_table", table_format="tsv"),
        "family_records": family_files(experiment, "family"),
    }


@cache
def found(report: Report) -> dict[str, FoundFamily]:
    """All multiple comparisons by name."""
    from ranktrial.reports.comparison.families import read_families

    return read_families(report.files["families"], report.files["family_records"], report.facts.labels)


def blocks(report: Report) -> list[Block]:
    """The section, if there are any."""
    from ranktrial.reports.contents.comparisons import families

    several, compared = found(report), comparisons.compared(report)
    return [families(several, [*compared.values()])] if several else []
