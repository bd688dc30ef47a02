"""Studies of transfer as the report shows them: plain data with their figures; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from scripts.reports.page.sections import anchor
from scripts.reports.page.svg import inline
from scripts.reports.page.tables import Cell, Table
from scripts.reports.transfer.answers_text import QUESTIONS
from scripts.reports.transfer.matrix_table import SHOTS
from scripts.reports.transfer.studies import Found


@dataclass(frozen=True)
class ShownStudy:
    """A matrix or curves: a table or figures, notes, and the answers by question, those over all targets first."""

    name: str
    anchor: str
    title: str
    table: Table | None
    notes: list[str]
    figures: list[tuple[str, Markup]]  # that of all targets, if any, is the first one
    answers: list[tuple[str, list[str], list[str]]]


def shown_studies(studies: list[Found], drawings: dict[str, str]) -> list[ShownStudy]:
    """All studies in the configuration's order; `drawings` are the SVGs by the figure's name."""
    made = []
    for place, one in enumerate(studies, 1):
        own = anchor("t", place, one.name)
        figures = [
            (figure, inline(drawings[figure], f"{own}-{number}", f"Curves {figure}. Their table holds its numbers."))
            for number, figure in enumerate([*one.figures[-1:], *one.figures[:-1]], 1)
        ]
        answers = []
        for question, asked in QUESTIONS.items():
            over_all = [answer.text for answer in one.answers if answer.question == question and not answer.target]
            single = [answer.text for answer in one.answers if answer.question == question and answer.target]
            if over_all or single:
                answers.append((f"{question}: {asked}", over_all, single))
        made.append(ShownStudy(one.name, own, one.title, _table(one), one.notes, figures, answers))
    return made


def _table(study: Found) -> Table | None:
    if not (names := study.matrix):
        return None
    columns = [("Source, target:", False)]
    columns += [(f"{label} {shot}", True) for label in names.targets.values() for shot in SHOTS.values()]
    rows = [
        [Cell(row.label), *(Cell(entry.text + entry.mark, _number(entry.text)) for entry in row.cells.values())]
        for row in study.rows
    ]
    return Table(f"{study.name}: mean {names.measure} of zero-shot (ZS) and full-shot (FS) models.", columns, rows)


def _number(text: str) -> float | None:
    """The value by which a cell sorts, if it has one."""
    try:
        return float(text.replace("\N{MINUS SIGN}", "-"))
    except ValueError:
        return None
