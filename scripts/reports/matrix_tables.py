"""Write a matrix of sources and targets to read, and what it answers.

Reads tables/{matrix}.tsv. Writes tables/{matrix}.md and .tex in the paper's layout, and
tables/{matrix}-answers.md and .tsv.
"""

from __future__ import annotations

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.transfer.answers_text import write_answers
from scripts.reports.transfer.matrix_answers import answers
from scripts.reports.transfer.matrix_table import Matrix, matrix, notes
from scripts.reports.transfer.studies import read_matrix
from scripts.reports.writing import latex, markdown
from scripts.reports.writing.content import Items


def main() -> None:
    arguments = parser(__doc__, "table", "page", "latex", "answers-page", "answers-table", settings=Matrix).parse_args()
    names: Matrix = arguments.settings
    table = read_matrix(arguments.table)
    blocks = [matrix(table, names), Items(notes(table, names))]
    with atomic_text(arguments.page) as file:
        file.write(markdown.document(names.title or arguments.table.stem, blocks))
    with atomic_text(arguments.latex) as file:
        file.write(latex.document(blocks))
    write_answers(answers(table, names), arguments.answers_page, arguments.answers_table)


if __name__ == "__main__":
    run(main)
