"""The table of selected seeds, or of the recipes that systems chose among: one row per candidate, with its score."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ranktrial.common.command_line import job
from ranktrial.common.strict_json import read_json
from ranktrial.common.tables import write_table


def collect(records: list[Path], table: Path) -> None:
    """Write the rows of all records of `select_seed`, or of `choose_recipe`, as a TSV."""
    write_table(table, pd.DataFrame([row for path in records for row in rows(read_json(path))]))


def rows(record: dict) -> list[dict]:
    """A record's candidates: seeds with the means of measures, or recipes with the mean of each seed (by_seed)."""
    what = "recipe" if "recipes" in record else "seed"
    same = {"entry": record["recipe"]} if what == "recipe" else {}
    same = {"system": record["system"]} | same | {key: record[key] for key in ("task", "split")}
    same |= {"measure": record["measure"]} if what == "recipe" else {"formula": record["formula"]}
    made = []
    for one in record[f"{what}s"]:
        row = same | {what: one[what], "chosen": "yes" if one[what] == record["chosen"] else "no"} | one
        if what == "recipe":
            each = ", ".join(f"{seed}: {value:.4f}" for seed, value in one["seeds"].items())
            row |= {"seeds": len(one["seeds"]), "by_seed": each}
        made.append(row)
    return made


if __name__ == "__main__":
    job(collect)
