"""The p-values of an experiment's summaries, adjusted for their number; reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Adjustment:
    """One comparison in its family: the adjusted p-values of its summary, the number of hypotheses, the name if any."""

    p_holm: float | None
    p_bh: float | None
    size: int
    family: str = ""

    @property
    def scope(self) -> str:
        """What p-values are adjusted over, in words."""
        hypotheses = "1 hypothesis" if self.size == 1 else f"{self.size} hypotheses"
        return f"{hypotheses} of family {self.family}" if self.family else f"experiment's {hypotheses}"


def adjustments(comparisons: pd.DataFrame) -> dict[str, Adjustment]:
    """Comparison -> its place in its family, from the rows of tables/comparisons.tsv."""
    if comparisons.empty:
        return {}
    table = comparisons.astype(object).where(comparisons.notna(), None)
    return {
        row["comparison"]: Adjustment(row["p_holm"], row["p_bh"], row["hypotheses"], row["family"] or "")
        for row in table.to_dict("records")
    }
