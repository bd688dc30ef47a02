"""Answers to research questions from a matrix of sources and targets.

Reads tables/{matrix}.tsv. Writes tables/{matrix}-answers.md and .tsv.
"""

from __future__ import annotations

from ranktrial.common.command_line import parser, run
from ranktrial.reports.transfer_studies import Matrix, answers_of_matrix, read_matrix, write_answers


def main() -> None:
    arguments = parser(__doc__, "matrix", "page", "table", settings=Matrix).parse_args()
    found = answers_of_matrix(read_matrix(arguments.matrix), arguments.settings)
    write_answers(found, arguments.page, arguments.table)


if __name__ == "__main__":
    run(main)
