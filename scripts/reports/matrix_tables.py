"""Write a matrix of sources and targets to read, and what it answers.

Reads tables/{matrix}.tsv. Writes tables/{matrix}.md and .tex in the paper's layout, and
tables/{matrix}-answers.md and .tsv.
"""

from __future__ import annotations

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.transfer.answers_text import as_markdown, as_table
from scripts.reports.transfer.matrix_answers import answers
from scripts.reports.transfer.matrix_table import Matrix, notes, view
from scripts.reports.transfer.matrix_text import as_latex, as_page
from scripts.reports.transfer.studies import read_matrix


def main() -> None:
    arguments = parser(__doc__, "table", "page", "latex", "answers-page", "answers-table", settings=Matrix).parse_args()
    names: Matrix = arguments.settings
    table = read_matrix(arguments.table)
    rows, said, found = view(table, names), notes(table, names), answers(table, names)
    with atomic_text(arguments.page) as file:
        file.write(as_page(arguments.table.stem, rows, names, said))
    with atomic_text(arguments.latex) as file:
        file.write(as_latex(rows, names, said))
    with atomic_text(arguments.answers_page) as file:
        file.write(as_markdown(found, 1) + "\n")
    with atomic_text(arguments.answers_table) as file:
        as_table(found).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
