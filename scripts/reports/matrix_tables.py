"""A matrix of sources and targets as a readable table.

Reads tables/{matrix}.tsv. Writes tables/{matrix}.md and .tex in the paper's layout.
"""

from __future__ import annotations

from ranktrial.common.command_line import parser, run
from ranktrial.reports.transfer_studies import Matrix, matrix, matrix_notes, read_matrix
from ranktrial.reports.writing.content import Items
from ranktrial.reports.writing.printed import write_printed


def main() -> None:
    arguments = parser(__doc__, "matrix", "page", "tex", settings=Matrix).parse_args()
    names: Matrix = arguments.settings
    table = read_matrix(arguments.matrix)
    blocks = [matrix(table, names), Items(matrix_notes(table, names))]
    write_printed(names.title or arguments.matrix.stem, blocks, arguments.page, arguments.tex)


if __name__ == "__main__":
    run(main)
