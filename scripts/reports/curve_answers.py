"""Answers to research questions from curves over the number of training queries.

Reads curves/{curve}.json. Writes tables/curves-{curve}-answers.md and .tsv.
"""

from __future__ import annotations

from ranktrial.common.command_line import parser, run
from ranktrial.common.settings import read_record
from ranktrial.records.curves import CurvesRecord
from ranktrial.reports.transfer_studies import Curves, answers_of_curves, write_answers


def main() -> None:
    arguments = parser(__doc__, "record", "page", "table", settings=Curves).parse_args()
    found = answers_of_curves(read_record(CurvesRecord, arguments.record), arguments.settings)
    write_answers(found, arguments.page, arguments.table)


if __name__ == "__main__":
    run(main)
