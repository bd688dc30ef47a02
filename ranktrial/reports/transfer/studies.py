"""Studies of transfer as pages show them: matrices and curves with their notes and answers.

Reads tables/{matrix}.tsv and curves/{curve}.json; writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pandas as pd

from ranktrial.common.records import read_record
from ranktrial.common.tables import read_table
from ranktrial.records.curves import CurvesRecord
from ranktrial.reports.transfer import curve_answers, matrix_answers
from ranktrial.reports.transfer.curve_answers import Curves
from ranktrial.reports.transfer.matrix_answers import Matrix, matrix, notes
from ranktrial.reports.transfer.wording import Answer, sections
from ranktrial.reports.writing.content import Block, Figure, Folded, Paragraph, Section, Table, bulleted


@dataclass(frozen=True)
class ShownCurves:
    """Curves and the figures that show them."""

    names: Curves
    figures: list[str]


@dataclass(frozen=True)
class Studies:
    """The matrices and curves of an experiment, by name."""

    matrices: Annotated[dict[str, Matrix], "names in each matrix"]
    curves: Annotated[dict[str, ShownCurves], "names in the curves, and their figures"]


@dataclass(frozen=True)
class Found:
    """A matrix with its notes, or curves with their figures, and the answers."""

    name: str
    title: str
    answers: list[Answer]
    matrix: Table | None = None
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)


def read_matrix(path: Path) -> pd.DataFrame:
    """A matrix's table."""
    return read_table(path, "source", "kind", "target", "shot", "system", "mark")


def read_studies(studies: Studies, matrices: list[Path], curves: list[Path]) -> list[Found]:
    """All of them in the configuration's order."""
    found = []
    for path in matrices:
        names, table = studies.matrices[path.stem], read_matrix(path)
        answers = matrix_answers.answers(table, names)
        title = names.title or "Sources and targets"
        found.append(Found(path.stem, title, answers, matrix(table, names), notes(table, names)))
    for path in curves:
        shown = studies.curves[path.stem]
        answers = curve_answers.answers(read_record(CurvesRecord, path), shown.names)
        title = shown.names.title or "Curves over the number of training queries"
        found.append(Found(path.stem, title, answers, figures=shown.figures))
    return found


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
