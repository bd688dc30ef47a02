"""Say what curves over the number of training queries answer.

Reads curves/{curve}.json. Writes tables/curves-{curve}-answers.md and .tsv.
"""

from __future__ import annotations

import json

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text
from scripts.reports.transfer.answers_text import as_markdown, as_table
from scripts.reports.transfer.curve_answers import Curves, answers


def main() -> None:
    arguments = parser(__doc__, "record", "answers-page", "answers-table", settings=Curves).parse_args()
    found = answers(json.loads(arguments.record.read_text(encoding="utf-8")), arguments.settings)
    with atomic_text(arguments.answers_page) as file:
        file.write(as_markdown(found, 1) + "\n")
    with atomic_text(arguments.answers_table) as file:
        as_table(found).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
