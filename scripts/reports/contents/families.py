"""Each multiple comparison with its answer, diagram, means with letters, differences; reads and writes nothing."""

from __future__ import annotations

from dataclasses import replace

from scripts.reports.comparison.families import FoundFamily
from scripts.reports.comparison.family_text import CONDITIONS, differences, heading, sentence, standings
from scripts.reports.comparison.reading import Labels
from scripts.reports.writing.content import Figure, Folded, Note, Paragraph, Section

AT_ONCE = (
    "Each of these tests all its differences together: p-values are adjusted for the whole family, and intervals are "
    "simultaneous. Over tasks they hold for these tasks. Other collections are the subject of the comparisons of two "
    f"systems. {CONDITIONS}"
)


def families(found: dict[str, FoundFamily], labels: Labels) -> Section:
    """All multiple comparisons in the configuration's order."""
    parts = [_family(name, one, labels) for name, one in found.items()]
    return Section("Many systems at once", [Paragraph(AT_ONCE), *parts], anchor="families")


def _family(name: str, found: FoundFamily, labels: Labels) -> Section:
    diagram = Figure(
        f"figures/multiple-comparisons/{name}.svg",
        "Systems by their means; a bar joins those without a significant difference.",
        f"Diagram of the systems' means, {name}. The table has the numbers.",
    )
    notes = [Note(warning) for warning in found.record.warnings]
    file = f"tables/multiple-comparisons/{name}.tsv"
    table = Folded("Differences", [replace(differences(found), source=file)], f"tables/multiple-comparisons/{name}.md")
    blocks = [Paragraph(sentence(found)), *notes, diagram, replace(standings(found), source=file), table]
    return Section(heading(found, labels), blocks, name, f"family-{name}")
