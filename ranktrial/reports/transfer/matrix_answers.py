"""Answers from a matrix of sources and targets: pseudo-labels and transfer against the baseline and each other.

Reads nothing; the numbers are those of tables/{matrix}.tsv. RQ2, RQ3 and RQ4 of Mokrii, Boytsov and Braslavski (2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ranktrial.reports.transfer.matrix_table import Matrix
from ranktrial.reports.transfer.wording import Answer, below, mean, percentage, signed, tested
from ranktrial.reports.writing.content import counted, listed
from ranktrial.statistics.task.differences import Difference

BASELINE, PSEUDO, SOURCE = "baseline", "pseudo-labels", "source"


@dataclass(frozen=True)
class _Counts:
    """How many differences are above, below and equal to 0, and how many of them significantly, also after Holm."""

    pairs: int
    above: int
    below: int
    above_significant: int
    below_significant: int
    above_holm: int
    below_holm: int

    def said(self, alpha: float, things: str) -> str:
        """The counts as a sentence's end."""
        equal = self.pairs - self.above - self.below
        above = f"{self.above} of {things}{_significant(self.above, self.above_significant, self.above_holm)}"
        below = f"{self.below}{_significant(self.below, self.below_significant, self.below_holm)}"
        same = f" and equal in {equal}" if equal else ""
        return f"the mean is higher in {above}, lower in {below}{same}; paired t-tests at the {alpha:g} level"

    def numbers(self) -> dict[str, float | None]:
        return {"pairs": self.pairs, "above": self.above, "below": self.below,
                "above_significant": self.above_significant, "below_significant": self.below_significant}  # fmt: skip


def _significant(count: int, alone: int, after_holm: int) -> str:
    return f" (significantly in {alone}, after Holm correction in {after_holm})" if count else ""


def answers(table: pd.DataFrame, names: Matrix) -> list[Answer]:
    """All answers from the matrix: for each question the counts, then each target."""
    rows = [row for row in table.to_dict("records") if row["shot"] == "zero"]
    baseline = next((names.rows[row["source"]] for row in rows if row["kind"] == BASELINE), "the baseline")
    pseudo = [row for row in rows if row["kind"] == PSEUDO]
    sources = [row for row in rows if row["kind"] == SOURCE]
    found = _pseudo_labels(pseudo, baseline, names)
    found += _transfer("RQ3", sources, BASELINE, baseline, names)
    return found + _transfer("RQ4", sources, PSEUDO, "pseudo-labels", names)


def _pseudo_labels(rows: list[dict], baseline: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{BASELINE}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, BASELINE, names.alpha)
    things = counted(len(compared), "target")
    text = f"Pseudo-labels against {baseline}: {counts.said(names.alpha, things)}."
    found = [Answer("RQ2", text, numbers=counts.numbers())]
    for row in compared:
        numbers = _numbers(row, BASELINE)
        base = row["mean"] - numbers["difference"]
        relative = percentage(numbers["difference"], base)
        text = f"{names.targets[row['target']]}: {mean(row['mean'])} against {mean(base)}, "
        text += f"{tested(_difference(numbers), names.alpha)}{f' ({relative})' if relative else ''}."
        found.append(Answer("RQ2", text, row["target"], numbers=numbers))
    return found


def _transfer(question: str, rows: list[dict], against: str, called: str, names: Matrix) -> list[Answer]:
    compared = [row for row in rows if pd.notna(row[f"{against}_difference"])]
    if not compared:
        return []
    counts = _counts(compared, against, names.alpha)
    things = counted(len(compared), "pair", "pairs") + " of source and target"
    text = f"Transferred models against {called}: {counts.said(names.alpha, things)}."
    if counts.below:
        text += " So not always."
    elif counts.above == counts.pairs and counts.above_significant < counts.pairs:
        open_ones = counts.pairs - counts.above_significant
        text += f" The mean is higher in every pair, not significantly in {open_ones}."
    found = [Answer(question, text, numbers=counts.numbers())]
    for target, label in names.targets.items():
        own = [row for row in compared if row["target"] == target]
        if own:
            parts = [f"{names.rows[row['source']]} {_short(row, against, names.alpha)}" for row in own]
            found.append(Answer(question, f"{label}: {listed(parts)} (p unadjusted).", target))
    return found


def _short(row: dict, against: str, alpha: float) -> str:
    p = row[f"{against}_p_value"]
    how = "" if pd.isna(p) else f" (p {'<' if below(p, alpha) else '≥'} {alpha:g})"
    return f"{signed(row[f'{against}_difference'])}{how}"


def _numbers(row: dict, against: str) -> dict[str, float | None]:
    keys = ("difference", "ci_low", "ci_high", "p_value", "p_holm")
    return {key: None if pd.isna(row[f"{against}_{key}"]) else row[f"{against}_{key}"] for key in keys}


def _difference(numbers: dict[str, float | None]) -> Difference:
    return Difference(numbers["difference"], numbers["ci_low"], numbers["ci_high"], None, None, numbers["p_value"])


def _counts(rows: list[dict], against: str, alpha: float) -> _Counts:
    def number(sign: int, p: str | None = None) -> int:
        return sum(
            row[f"{against}_difference"] * sign > 0 and (p is None or below(row[f"{against}_{p}"], alpha))
            for row in rows
        )

    significant = [number(sign, p) for p in ("p_value", "p_holm") for sign in (1, -1)]
    return _Counts(len(rows), number(1), number(-1), *significant)
