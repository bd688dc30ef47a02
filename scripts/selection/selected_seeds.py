"""Table of the selected seeds: one row per system and seed, with score, measures and whether it was selected.

Reads the records that `select_seed` wrote. Writes a TSV: system, task, split, formula, seed, chosen (yes | no), score,
then one column per measure (empty where a system's score does not use it).
"""

from __future__ import annotations

import json

import pandas as pd

from ranktrial.common.command_line import parser, run
from ranktrial.common.tables import write_table


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
    write_table(options.table, pd.DataFrame(table))


if __name__ == "__main__":
    run(main)
