"""Whether a mean effect is significant: in full, and as the short answer of a table; reads and writes nothing.

The same verdict serves sentences, tables and the report, so that they cannot contradict one another.
"""

from __future__ import annotations

from enum import IntEnum

from ranktrial.reports.comparison.forest_data import AgainstMargin, Diamond, Forest


class Verdict(IntEnum):
    """The result of a test with its correction, from the weakest."""

    UNTESTED = 0
    NOT_SIGNIFICANT = 1
    BEFORE_CORRECTION = 2  # significant alone, not after Holm correction
    SIGNIFICANT = 3


def verdict(mean: Diamond | AgainstMargin, alpha: float) -> Verdict:
    """The verdict on a mean: by its own p-value, then by Holm's for all hypotheses of its family."""
    if mean.own_p is None:
        return Verdict.UNTESTED
    if mean.own_p >= alpha:
        return Verdict.NOT_SIGNIFICANT
    if mean.p_holm is not None and mean.p_holm >= alpha:
        return Verdict.BEFORE_CORRECTION
    return Verdict.SIGNIFICANT


def in_full(found: Verdict, alpha: float) -> str:
    """The verdict with its level; empty if there is no test."""
    level = f"at the {alpha:g} level"
    return {
        Verdict.UNTESTED: "",
        Verdict.NOT_SIGNIFICANT: f"not significant {level}",
        Verdict.BEFORE_CORRECTION: f"significant {level} alone, but not after Holm correction",
        Verdict.SIGNIFICANT: f"significant {level}",
    }[found]


def answer(plot: Forest, mean: Diamond | None) -> tuple[str, str]:
    """The answer of a mean to the question of its comparison, and its type: better, worse or open."""
    found = Verdict.UNTESTED if mean is None else verdict(mean, plot.alpha)
    if mean is None or found is not Verdict.SIGNIFICANT:
        words = {
            Verdict.UNTESTED: "no test",
            Verdict.NOT_SIGNIFICANT: "not significant",
            Verdict.BEFORE_CORRECTION: "not significant after Holm correction",
        }
        return words[found], "open"
    above = mean.effect > 0
    if not (plot.lower_is_better and plot.effect.HAS_DIFFERENCE):
        return (plot.effect.ANSWERS[0], "better") if above else (plot.effect.ANSWERS[1], "worse")
    words_of = [words.partition(", ") for words in plot.effect.ANSWERS]  # yes or no, and higher or lower
    judgement, direction = (words_of[1][0], words_of[0][2]) if above else (words_of[0][0], words_of[1][2])
    return f"{judgement}, {direction}", "worse" if above else "better"
