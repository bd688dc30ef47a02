"""Answers to research questions from a matrix of sources and targets.

Reads tables/{matrix}.tsv. Writes tables/{matrix}-answers.md and .tsv.
"""

from __future__ import annotations

from ranktrial.common.command_line import parser, run
from ranktrial.reports.transfer.matrix_answers import Matrix, answers
from ranktrial.reports.transfer.studies import read_matrix
from ranktrial.reports.transfer.wording import write_answers


def main() -> None:
    arguments = parser(__doc__, "matrix", "page", "table", settings=Matrix).parse_args()
    found = answers(read_matrix(arguments.matrix), arguments.settings)
    write_answers(found, arguments.page, arguments.table)


if __name__ == "__main__":
    run(main)
