"""Marks of significance that a paper prints beside its numbers, and ours at the same places.

Ours are in the matrices of sources and targets (tables/{matrix}.tsv): # marks pseudo-labels that differ significantly
from the baseline, * a transferred model that differs from pseudo-labels. Ours are doubled where the difference is
significant after Holm's correction, too, which no printed mark says; so a mark is compared by what it is of.
"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

TESTED = {"source": "pseudo-labels_p_value", "pseudo-labels": "baseline_p_value"}  # the kind of a cell: its test
PRINTED = ("", "*", "#")
NOT_TESTED = "not tested"
Marks = dict[tuple[str, str], str]  # task, system: the mark, empty if a test found no difference


def marks(matrices: Iterable[pd.DataFrame]) -> Marks:
    """The mark of each cell that is tested; of a cell in several matrices, that in the first."""
    found: Marks = {}
    for table in matrices:
        for row in table.to_dict("records"):
            if pd.notna(row.get(TESTED.get(row["kind"], ""))):
                found.setdefault((row["target"], row["system"]), row["mark"] if pd.notna(row["mark"]) else "")
    return found


def compared(row: dict[str, str], ours: Marks) -> dict[str, str]:
    """A printed mark, ours, and whether both mark a difference; empty if there is nothing to compare."""
    printed, own = row.get("mark", ""), ours.get((row["task"], row["system"]))
    if own is None:
        return {"mark": printed, "our_mark": NOT_TESTED if printed else "", "marks_equal": ""}
    return {"mark": printed, "our_mark": own, "marks_equal": "yes" if own[:1] == printed else "no"}
