"""Table of the selected seeds: a row a system and seed, with its score, its measures and whether it was chosen.

Reads the records that `select_seed` wrote. Writes a TSV: system, task, split, formula, seed, chosen (yes | no), score,
then a column a measure (empty where a system's score does not use it).
"""

from __future__ import annotations

import json

import pandas as pd

from scripts.common.command_line import parser, run
from scripts.common.files import atomic_text


def rows(record: dict) -> list[dict]:
    """The rows of one system."""
    same = {key: record[key] for key in ("system", "task", "split", "formula")}
    return [
        same | {"seed": one["seed"], "chosen": "yes" if one["seed"] == record["chosen"] else "no"} | one
        for one in record["seeds"]
    ]


def main() -> None:
    options = parser(__doc__, "selections*", "table", settings=False).parse_args()
    found = [row for path in options.selections for row in rows(json.loads(path.read_text()))]
    with atomic_text(options.table) as file:
        pd.DataFrame(found).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
