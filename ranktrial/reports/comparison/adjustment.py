"""The adjusted p-values of an experiment's comparisons, from tables/comparisons.tsv; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ranktrial.records.comparisons import ComparisonRow


@dataclass(frozen=True)
class Adjusted:
    """A p-value by Holm and by Benjamini-Hochberg for a number of hypotheses; None if there is no test."""

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
        """What p-values are corrected for, as text."""
        whole = f"family {self.family}" if self.family else "the experiment"
        return f"the {self.summary.hypotheses} hypotheses of {whole}"


def rows_of(comparisons: pd.DataFrame) -> list[ComparisonRow]:
    """The rows of tables/comparisons.tsv; empty cells are None."""
    filled = comparisons.astype(object).where(comparisons.notna(), None)
    return [ComparisonRow(**row) for row in filled.to_dict("records")]


def adjustments(comparisons: pd.DataFrame) -> dict[str, Adjustment]:
    """Comparison -> its adjusted tests, from the rows of tables/comparisons.tsv."""
    return {row.comparison: _adjustment(row) for row in rows_of(comparisons)}


def _adjustment(row: ComparisonRow) -> Adjustment:
    tests, margin = row.hypotheses, row.margin_hypotheses
    return Adjustment(
        summary=Adjusted(row.p_holm, row.p_bh, tests),
        fixed_mean=Adjusted(row.fixed_mean_p_holm, row.fixed_mean_p_bh, tests),
        equivalence=Adjusted(row.p_equivalence_holm, row.p_equivalence_bh, margin),
        non_inferiority=Adjusted(row.p_non_inferiority_holm, row.p_non_inferiority_bh, margin),
        family=row.family or "",
    )
