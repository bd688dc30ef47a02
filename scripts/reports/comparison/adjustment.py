"""The adjusted p-values of an experiment's comparisons, from tables/comparisons.tsv; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd


@dataclass(frozen=True)
class Adjusted:
    """A p-value by Holm and by Benjamini-Hochberg for a number of hypotheses; None where there is no test."""

    holm: float | None = None
    bh: float | None = None
    hypotheses: int = 1


@dataclass(frozen=True)
class Adjustment:
    """The adjusted tests of one comparison: of its random-effects summary, of its mean on these collections, and of the
    summary against the margin; and the name of the family within which they are adjusted, if it has one.
    """

    summary: Adjusted
    fixed_mean: Adjusted
    equivalence: Adjusted
    non_inferiority: Adjusted
    family: str = ""

    @property
    def scope(self) -> str:
        """What p-values are adjusted over, as text."""
        hypotheses = f"{self.summary.hypotheses} hypotheses"
        return f"{hypotheses} of family {self.family}" if self.family else f"experiment's {hypotheses}"


def adjustments(comparisons: pd.DataFrame) -> dict[str, Adjustment]:
    """Comparison -> its adjusted tests, from the rows of tables/comparisons.tsv."""
    if comparisons.empty:
        return {}
    table = comparisons.astype(object).where(comparisons.notna(), None)
    return {row["comparison"]: _adjustment(row) for row in table.to_dict("records")}


def _adjustment(row: dict[str, Any]) -> Adjustment:
    def adjusted(test: str, hypotheses: int) -> Adjusted:
        return Adjusted(row[f"{test}_holm"], row[f"{test}_bh"], hypotheses)

    return Adjustment(
        summary=adjusted("p", row["hypotheses"]),
        fixed_mean=adjusted("fixed_mean_p", row["hypotheses"]),
        equivalence=adjusted("p_equivalence", row["margin_hypotheses"]),
        non_inferiority=adjusted("p_non_inferiority", row["margin_hypotheses"]),
        family=row["family"] or "",
    )
