"""Studies of transfer: a matrix of sources and targets as a readable table, and the answers of matrices and curves.

Reads tables/{matrix}.tsv or curves/{curve}.json. Writes tables/{matrix}.md and .tex in the paper's layout, and
tables/{matrix}-answers.md and .tsv or tables/curves-{curve}-answers.md and .tsv.
"""

from __future__ import annotations

from pathlib import Path

from ranktrial.common.command_line import job
from ranktrial.common.settings import read_record
from ranktrial.records.curves import CurvesRecord
from ranktrial.reports import transfer_studies
from ranktrial.reports.transfer_studies import Curves, Matrix, read_matrix, write_answers
from ranktrial.reports.writing.content import Items
from ranktrial.reports.writing.printed import write_printed


def matrix_table(matrix: Path, page: Path, tex: Path, settings: Matrix) -> None:
    """Write a matrix and its notes."""
    table = read_matrix(matrix)
    blocks = [transfer_studies.matrix(table, settings), Items(transfer_studies.matrix_notes(table, settings))]
    write_printed(settings.title or matrix.stem, blocks, page, tex)


def matrix_answers(matrix: Path, page: Path, table: Path, settings: Matrix) -> None:
    """Write the answers from a matrix."""
    write_answers(transfer_studies.answers_of_matrix(read_matrix(matrix), settings), page, table)


def curve_answers(record: Path, page: Path, table: Path, settings: Curves) -> None:
    """Write the answers from curves over the number of training queries."""
    found = transfer_studies.answers_of_curves(read_record(CurvesRecord, record), settings)
    write_answers(found, page, table)


if __name__ == "__main__":
    job(matrix_table, matrix_answers, curve_answers)
