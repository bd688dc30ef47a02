"""The p-values of an experiment's summaries, adjusted for their number; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Adjustment:
    """One comparison among all: the adjusted p-values of its summary, and how many comparisons there are."""

    p_holm: float | None
    p_bh: float | None
    size: int


def adjustments(comparisons: pd.DataFrame) -> dict[str, Adjustment]:
    """Comparison -> its place among all that have a p-value, from the rows of tables/comparisons.tsv."""
    if comparisons.empty:
        return {}
    size = int(comparisons["p_value"].notna().sum())
    table = comparisons.astype(object).where(comparisons.notna(), None)
    return {row["comparison"]: Adjustment(row["p_holm"], row["p_bh"], size) for row in table.to_dict("records")}
