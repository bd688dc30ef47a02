"""The multiple comparisons as the report shows them: plain data with their diagrams; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from scripts.reports.comparison.families import FoundFamily
from scripts.reports.comparison.family_text import differences_table, heading, sentence, standings_table
from scripts.reports.comparison.reading import Labels
from scripts.reports.page.sections import anchor
from scripts.reports.page.svg import inline
from scripts.reports.page.tables import Cell, Table


@dataclass(frozen=True)
class ShownFamily:
    """A multiple comparison as the page shows it."""

    name: str
    anchor: str
    heading: str
    sentence: str
    warnings: list[str]
    standings: Table
    differences: Table
    diagram: Markup


def shown_families(families: dict[str, FoundFamily], labels: Labels, diagrams: dict[str, str]) -> list[ShownFamily]:
    """All multiple comparisons in the configuration's order; `diagrams` are the SVGs by name."""
    made = []
    for place, (name, found) in enumerate(families.items(), 1):
        own = anchor("m", place, name)
        measure = found.record["measure"]
        label = "Diagram of the systems' means. The table below it holds its numbers."
        standings = _table(f"{name}: mean {measure} of each system.", standings_table(found), numbers_from=99)
        differences = _table(f"{name}: differences in {measure}.", differences_table(found), numbers_from=2)
        made.append(
            ShownFamily(
                name=name,
                anchor=own,
                heading=heading(found, labels),
                sentence=sentence(found),
                warnings=found.record["warnings"],
                standings=standings,
                differences=differences,
                diagram=inline(diagrams[name], own, label),
            )
        )
    return made


def _table(caption: str, table: tuple[list[str], list[list[str]]], numbers_from: int) -> Table:
    headings, rows = table
    columns = [(name, place >= numbers_from) for place, name in enumerate(headings)]
    return Table(caption, columns, [[Cell(text) for text in row] for row in rows])
