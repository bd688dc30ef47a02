"""Table of the recipes that systems select among: one row per system and recipe, with score and whether selected.

Reads the records that `choose_recipe` wrote. Writes a TSV: system, entry, task, split, measure, recipe, chosen (yes |
no), score (the mean over seeds), seeds (their number), by_seed (seed: its mean, ...).
"""

from __future__ import annotations

import pandas as pd

from ranktrial.common.command_line import parser, run
from ranktrial.common.strict_json import read_json
from ranktrial.common.tables import write_table


def rows(record: dict) -> list[dict]:
    """The rows of one system."""
    same = {"system": record["system"], "entry": record["recipe"]}
    same |= {key: record[key] for key in ("task", "split", "measure")}
    return [
        same
        | {"recipe": one["recipe"], "chosen": "yes" if one["recipe"] == record["chosen"] else "no"}
        | {"score": one["score"], "seeds": len(one["seeds"])}
        | {"by_seed": ", ".join(f"{seed}: {value:.4f}" for seed, value in one["seeds"].items())}
        for one in record["recipes"]
    ]


def main() -> None:
    options = parser(__doc__, "records*", "table", settings=False).parse_args()
    table = [row for path in options.records for row in rows(read_json(path))]
    write_table(options.table, pd.DataFrame(table))


if __name__ == "__main__":
    run(main)
