"""Table of the selected seeds: one row per system and seed, with score, measures and whether it was selected.

Reads the records that `select_seed` wrote. Writes a TSV: system, task, split, formula, seed, chosen (yes | no), score,
then one column per measure (empty where a system's score does not use it).
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
        same | {"seed": of_seed["seed"], "chosen": "yes" if of_seed["seed"] == record["chosen"] else "no"} | of_seed
        for of_seed in record["seeds"]
    ]


def main() -> None:
    options = parser(__doc__, "records*", "table", settings=False).parse_args()
    table = [row for path in options.records for row in rows(json.loads(path.read_text()))]
    with atomic_text(options.table) as file:
        pd.DataFrame(table).to_csv(file, sep="\t", index=False)


if __name__ == "__main__":
    run(main)
