"""Equivalence of a summary effect: two one-sided tests against a margin (Schuirmann 1987); reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.statistics.meta_analysis.summaries import Summary
from scripts.statistics.meta_analysis.tails import normal_upper, t_upper


@dataclass(frozen=True)
class SummaryEquivalence:
    """The tests of |effect| < margin and of effect > -margin; None if the summary has no variance."""

    margin: float
    p_equivalence: float | None
    p_non_inferiority: float | None


def equivalence(summary: Summary, margin: float, lower_is_better: bool = False) -> SummaryEquivalence:
    """Test the summary effect against the margin by the summary's own distribution."""
    gain = -summary.effect if lower_is_better else summary.effect

    def upper(value: float) -> float:
        z = value / summary.se
        return (normal_upper(z) if summary.df is None else t_upper(z, summary.df)).p

    if not summary.se:
        return SummaryEquivalence(margin, None, None)
    above, below = upper(margin + gain), upper(margin - gain)
    return SummaryEquivalence(margin, max(above, below), above)
