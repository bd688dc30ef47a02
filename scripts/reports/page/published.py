"""The report's table of published numbers beside ours, one row per number or per cell of a paper's tables.

Reads and writes nothing; the table is read as text, so that printed digits stay as they are.
"""

from __future__ import annotations

import pandas as pd

from scripts.common.files import is_number
from scripts.reports.page.tables import Cell, Table

DIFFERENT = ("no", "different")  # of a number that is not reproduced


def published_table(published: pd.DataFrame) -> Table:
    """Every published number, ours in the digits printed, and whether they are equal or what the verdict is."""
    cells = "verdict" in published
    rows = []
    for row in published.to_dict("records"):
        if cells:
            measure = row["measure"] + (f"@{row['cutoff']}" if row["cutoff"] else "")
            place = ", ".join(part for part in (row["variant"], row["system"], row["training"]) if part)
            verdict = [Cell(row["verdict"], strong=row["verdict"] in DIFFERENT), Cell(row["reason"])]
        else:
            place, measure = row["row"], row["column"]
            verdict = [Cell(row["equal"], strong=row["equal"] in DIFFERENT), Cell(row["note"])]
        numbers = [_number(row["published"], row.get("published_sd", "")), _number(row["ours"], row.get("ours_sd", ""))]
        rows.append([Cell(row["table"]), Cell(place), Cell(measure), *numbers, *verdict])
    columns = [("Table", False), ("Row", False), ("Column", False), ("Published", True), ("Ours", True)]
    columns += [("Verdict" if cells else "Equal", False), ("Reason" if cells else "Note", False)]
    return Table("Published numbers and ours, to the digits printed.", columns, rows)


def _number(text: str, spread: str) -> Cell:
    return Cell(text + (f" ± {spread}" if spread else ""), float(text) if is_number(text) else None)
