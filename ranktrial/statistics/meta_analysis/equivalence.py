"""Equivalence of a summary effect: two one-sided tests against a margin (Schuirmann 1987); reads and writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ranktrial.statistics.meta_analysis.summaries import Summary, upper_tail


@dataclass(frozen=True)
class SummaryEquivalence:
    """The tests of |effect| < margin and of effect > -margin; None if the summary has no variance."""

    margin: float
    p_equivalence: float | None
    p_non_inferiority: float | None


def equivalence(summary: Summary, margin: float, lower_is_better: bool = False) -> SummaryEquivalence:
    """Test the summary effect against the margin by all estimates of its variance."""
    gain = -summary.effect if lower_is_better else summary.effect
    if not summary.se:
        return SummaryEquivalence(margin, None, None)
    above, below = (upper_tail(margin + side, summary.parts).p for side in (gain, -gain))
    return SummaryEquivalence(margin, max(above, below), above)
