"""Studies of transfer: matrices and curves with their notes and answers; reads and writes nothing."""

from __future__ import annotations

from ranktrial.reports.transfer.answers_text import sections
from ranktrial.reports.transfer.studies import Found
from ranktrial.reports.writing.content import Block, Figure, Folded, Paragraph, Section, bulleted

HOLDS = (
    "Intervals and p-values are over the queries of a target and hold for these checkpoints. The range over the "
    "samples shows how much other training queries and seeds change."
)


def studies(found: list[Found]) -> Section:
    """All studies in the configuration's order."""
    parts = [Section(one.title, _study(one), one.name, f"study-{one.name}") for one in found]
    return Section("Transfer and training queries", [Paragraph(HOLDS), *parts], anchor="transfer")


def _study(study: Found) -> list[Block]:
    """The matrix, the figure of all targets, the answers, and the figures of single targets."""
    figures = [
        Figure(f"figures/{name}.svg", name, f"Curves {name}. Their table has the numbers.") for name in study.figures
    ]
    matrix = [study.matrix, Folded("Table", [], f"tables/{study.name}.md")] if study.matrix else []
    single = [Folded("Each target", figures[:-1])] if figures[:-1] else []
    return [*matrix, *bulleted(study.notes), *figures[-1:], *sections(study.answers), *single]
